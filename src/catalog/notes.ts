// What servers and the commands beside them tell each other about the catalog, in rows of the
// database: the server what it serves, a command that it wants a reload, and the nodes of a cluster
// the text that all of them sell by. Whoever reads a note checks it, because another version may have
// written it.

import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { parseJson } from '../core/json.ts';
import type { Database } from '../store/contract.ts';
import { readNote, writeNote } from '../store/server-notes.ts';
import { catalogDigest } from './live.ts';

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) =>
  Type.Union([type, Type.Null()]);

const CatalogNote = Type.Object({
  /** The last request for a reload that this state is the answer to. */
  request: Nullable(Type.String()),
  version: Type.Integer(),
  digest: Type.String(),
  origin: Type.Union([Type.Literal('file'), Type.Literal('built-in')]),
  path: Nullable(Type.String()),
  loaded_at: Type.String(),
  models: Type.Integer(),
  upstreams: Type.Integer(),
  plans: Type.Integer(),
  warnings: Type.Array(Type.String()),
  refused: Nullable(Type.Object({ at: Type.String(), problems: Type.Array(Type.String()) })),
});

/** As the command line prints it. */
export type CatalogNote = Static<typeof CatalogNote>;

/** What the server that runs, or the last one that did, has served; `undefined` before the first. */
export async function readCatalogNote(database: Database): Promise<CatalogNote | undefined> {
  const text = await readNote(database, 'catalog');
  const note = parseJson(text ?? '');
  return Value.Check(CatalogNote, note) ? note : undefined;
}

export const writeCatalogNote = (database: Database, note: CatalogNote, nowMs: number) =>
  writeNote(database, 'catalog', JSON.stringify(note), nowMs);

/** The id of the last request for a reload. */
export const readReloadRequest = (database: Database) => readNote(database, 'catalog_reload');

/** Call inside the transaction with its audit event, by which a server notices it. */
export const writeReloadRequest = (database: Database, id: string, nowMs: number) =>
  writeNote(database, 'catalog_reload', id, nowMs);

/**
 * The catalog that the nodes of a cluster sell by; `undefined` before the first, and where a server
 * has its database to itself: there its file is the catalog.
 */
export async function readSharedCatalog(database: Database) {
  const text = await readNote(database, 'catalog_text');
  return text === undefined ? undefined : { text, digest: catalogDigest(text) };
}

/** Call inside the transaction with its audit event, by which the nodes notice it. */
export const writeSharedCatalog = (database: Database, text: string, nowMs: number) =>
  writeNote(database, 'catalog_text', text, nowMs);
