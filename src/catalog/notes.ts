// Catalog notes exchanged through database rows: a server publishes what it serves, a command
// requests a reload, and the nodes of a cluster share one catalog text. Readers validate a note,
// because another version may have written it.

import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { parseJson } from '../core/json.ts';
import type { Database } from '../store/contract.ts';
import { readNote, writeNote } from '../store/server-notes.ts';
import { catalogDigest } from './live.ts';

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) =>
  Type.Union([type, Type.Null()]);

const CatalogNote = Type.Object({
  /** The last reload request that this state answers. */
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

/** In the form that the command line prints. */
export type CatalogNote = Static<typeof CatalogNote>;

/** What the current or last server has served; `undefined` before the first. */
export async function readCatalogNote(database: Database): Promise<CatalogNote | undefined> {
  const text = await readNote(database, 'catalog');
  const note = parseJson(text ?? '');
  return Value.Check(CatalogNote, note) ? note : undefined;
}

export const writeCatalogNote = (database: Database, note: CatalogNote, nowMs: number) =>
  writeNote(database, 'catalog', JSON.stringify(note), nowMs);

/** The id of the last reload request. */
export const readReloadRequest = (database: Database) => readNote(database, 'catalog_reload');

/** Call in the transaction of its audit event, which notifies the server. */
export const writeReloadRequest = (database: Database, id: string, nowMs: number) =>
  writeNote(database, 'catalog_reload', id, nowMs);

/**
 * The catalog shared by the nodes of a cluster; `undefined` before the first, and on a single node,
 * whose catalog is its file.
 */
export async function readSharedCatalog(database: Database) {
  const text = await readNote(database, 'catalog_text');
  return text === undefined ? undefined : { text, digest: catalogDigest(text) };
}

/** Call in the transaction of its audit event, which notifies the nodes. */
export const writeSharedCatalog = (database: Database, text: string, nowMs: number) =>
  writeNote(database, 'catalog_text', text, nowMs);
