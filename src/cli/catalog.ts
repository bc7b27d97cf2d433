// `tollgate catalog check|status|reload`: validates a catalog, shows the one that a running server
// uses, and requests a reload. Command and server communicate through the database.

import type { Command } from 'commander';
import { type LoadedCatalog, loadFound } from '../catalog/live.ts';
import { type CatalogNote, readCatalogNote, readReloadRequest } from '../catalog/notes.ts';
import { findCatalog } from '../catalog/source.ts';
import { checkInEnglish, digestOnDisk, requestReload } from '../operations/catalog.ts';
import { databaseFile } from '../store/connect.ts';
import { addCommand, addGroup, CommandError, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';
import { isServing } from './is-server-running.ts';
import { changeOf } from './open-operations.ts';
import type { SuggestOptions } from './suggest.ts';

/** A server polls four times a second; a busy one gets more time. */
const ANSWER_MS = 5_000;
const ANSWER_LOOK_MS = 25;

export function addCatalogCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'catalog', 'check, look at and reload models, prices and plans');
  perform(
    addCommand(group, 'check [file]', 'list all problems of a catalog; changes nothing'),
    check,
  );
  perform(addCommand(group, 'status', 'show which catalog the server uses'), status);
  perform(
    addCommand(group, 'reload', 'make the running server reload its catalog and secrets'),
    reload,
  );
  perform<SuggestOptions>(
    addCommand(group, 'suggest', 'draft costs and new models from a price list in a file')
      .requiredOption('--from <file>', "models.dev's api.json, or LiteLLM's price map")
      .requiredOption('--upstream <id>', 'the upstream whose models are drafted')
      .option('--provider <name>', 'its name in the list (default: the id of the upstream)')
      .option('--models <names>', "the list's names (default: those that it serves)")
      .option('--margin <percent>', 'what new prices add to the cost', '0%'),
    async (context, options) => (await import('./suggest.ts')).suggestCatalog(context, options),
  );
}

function check(context: Context, _options: object, file?: string): Output {
  const json = checkInEnglish(() => load(context, file), context.clock());
  if (!json.ok) return { json, text: json.problems.join('\n'), exitCode: 1 };
  const words = `${json.path ?? 'The built-in catalog'} is valid: ${countWords(json)}.`;
  const profiles = json.profiles.map(
    (each) =>
      `profile: ${each.model} at ${each.upstream} (${each.upstream_model}) has ${each.profile}: ${each.reason}`,
  );
  return { json, text: [words, ...profiles, ...warningLines(json.warnings)].join('\n') };
}

export function warningLines(warnings: readonly string[]): string[] {
  return warnings.map((warning) => `warning: ${warning}`);
}

function load(context: Context, file: string | undefined): LoadedCatalog {
  if (file === undefined) return context.loadedCatalog();
  return loadNamedCatalog(context, file, 'The argument');
}

/**
 * Loads a file other than that of the settings; `namedBy` says in errors where its path is from.
 */
export function loadNamedCatalog(
  context: Context,
  path: string | undefined,
  namedBy: string,
): LoadedCatalog {
  const { directory } = context;
  const environment = context.environment().variables;
  return loadFound(findCatalog({ path, environment, directory, namedBy }), context.clock());
}

async function status(context: Context): Promise<Output> {
  const { database } = await context.openStore();
  const serving = await isServing(context);
  const note = await readCatalogNote(database);
  const { directory } = context;
  const search = { path: context.config().catalogPath, environment: {}, directory };
  const onDisk = digestOnDisk(() => findCatalog(search));
  const json = { serving, catalog: note === undefined ? null : record(note), on_disk: onDisk };
  if (note === undefined) return { json, text: 'No server has run on this database yet.' };
  const differs = onDisk !== null && onDisk !== note.digest;
  const lines = [
    serving ? 'A server is running.' : 'No server is running; the last one had this catalog.',
    `version ${note.version}, ${note.path ?? 'built in'}, since ${note.loaded_at}`,
    `digest ${note.digest}`,
    countWords(note),
    ...(differs ? ['The file has changed since. Check it with tollgate catalog check.'] : []),
    ...warningLines(note.warnings),
    ...refusalLines(note),
  ];
  return { json, text: lines.join('\n') };
}

/** Waits until the server has reported the result. */
async function reload(context: Context): Promise<Output> {
  await requireServer(context);
  const change = await changeOf(context);
  return reloaded(await reloadedNote(context, await requestReload(change, textForAll(context))));
}

/** The local file, for the nodes of a cluster; `undefined` where each server has its own. */
function textForAll(context: Context): string | undefined {
  if (databaseFile(context.config().databaseUrl) !== undefined) return undefined;
  const { origin, text } = context.foundCatalog();
  return origin === 'file' ? text : undefined;
}

async function requireServer(context: Context): Promise<void> {
  if (await isServing(context)) return;
  throw new CommandError(
    'no_server',
    'No server runs on this database. The next one reads the catalog when it starts.',
  );
}

async function reloadedNote(context: Context, id: string): Promise<CatalogNote> {
  const { database } = await context.openStore();
  const deadline = performance.now() + ANSWER_MS;
  while (performance.now() < deadline) {
    const note = await readCatalogNote(database);
    // A reload that answers a later request includes this one.
    const answered = note?.request === id || note?.request === (await readReloadRequest(database));
    if (note !== undefined && answered) return note;
    await Bun.sleep(ANSWER_LOOK_MS);
  }
  throw new CommandError(
    'no_answer',
    `The server has not answered for ${ANSWER_MS / 1_000} seconds. Check it with tollgate catalog status.`,
  );
}

function reloaded(note: CatalogNote): Output {
  if (note.refused !== null) {
    const words = `The catalog was refused; version ${note.version} stays active.`;
    const text = [words, ...note.refused.problems].join('\n');
    return { json: { accepted: false, catalog: record(note) }, text, exitCode: 1 };
  }
  const words = `Version ${note.version} of the catalog is active: ${countWords(note)}.`;
  return {
    json: { accepted: true, catalog: record(note) },
    text: [words, ...warningLines(note.warnings)].join('\n'),
  };
}

/** Leaves out what only a waiting command needs. */
function record({ request: _, ...facts }: CatalogNote) {
  return facts;
}

function refusalLines({ refused }: CatalogNote): string[] {
  if (refused === null) return [];
  const count = refused.problems.length;
  return [
    `A later one was refused at ${refused.at}, with ${count === 1 ? 'a problem' : `${count} problems`}:`,
    ...refused.problems,
  ];
}

type Counts = Readonly<Record<'models' | 'upstreams' | 'plans', number>>;

function countWords({ models, upstreams, plans }: Counts): string {
  return `${models} models, ${upstreams} upstreams, ${plans} plans`;
}
