// `tollgate doctor`: checks everything that a server needs and prints one line per check. Changes
// nothing. Reports a check that cannot run because of an earlier failure. `--before-start` accepts
// what a start puts right by itself, and does not read the whole books: a service manager waits.

import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { sql } from 'drizzle-orm';
import type { Awaitable } from '../async/awaitable.ts';
import { priceWarnings } from '../catalog/price-warnings.ts';
import { chosenProfiles, profileWarnings } from '../catalog/profile-notes.ts';
import { isoTime } from '../core/calendar.ts';
import { messageOf } from '../core/message-of.ts';
import { wordsOf } from '../core/sentence.ts';
import { keptAnswers } from '../idempotency/store.ts';
import { accountsByPlan } from '../identity/accounts.ts';
import { findDifferences } from '../ledger/audit.ts';
import { keptThinking } from '../reasoning/reasoning.ts';
import { databaseFile } from '../store/connect.ts';
import type { Database } from '../store/contract.ts';
import { isSqlite } from '../store/database.ts';
import { droppedTriggers, migrationStatus } from '../store/migrate.ts';
import { movements, openHolds, requests } from '../store/money-tables.ts';
import { isIntact } from '../store/sqlite-copy.ts';
import { type FileSpace, fileSpace } from '../store/sqlite-space.ts';
import { accounts } from '../store/tables.ts';
import { readOpenFileLimit } from '../upstream/descriptors.ts';
import { addCommand, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';
import { isHealthy } from './health.ts';

type Finding = { readonly ok: boolean; readonly detail: string };
type Check = Finding & { readonly name: string };

const OPEN_FILES_MIN = 4_096;

type DoctorOptions = { readonly beforeStart?: true };

export function addDoctorCommand(program: Command, perform: Perform): void {
  const command = addCommand(
    program,
    'doctor',
    'check all that a server needs, and audit the books; changes nothing',
  ).option(
    '--before-start',
    'accept a new or older database, and leave out the audit of the books',
  );
  perform<DoctorOptions>(command, doctor);
}

async function doctor(context: Context, options: DoctorOptions): Promise<Output> {
  const beforeStart = options.beforeStart === true;
  const checks: Check[] = [];
  const add = (name: string, finding: Finding): void => void checks.push({ name, ...finding });
  add('configuration', await attempt(() => checkConfig(context)));
  const open = beforeStart ? openBeforeStart : openForChecks;
  const database = await attempt(() => open(context));
  try {
    for (const [name, check] of beforeStart ? START_CHECKS : databaseChecks(context)) {
      add(name, 'db' in database ? await attempt(() => check(database)) : database);
    }
  } finally {
    if ('db' in database) await database.close();
  }
  add('catalog', await attempt(() => checkCatalog(context)));
  add('upstream profiles', await attempt(() => checkProfiles(context)));
  add('upstream secrets', await attempt(() => checkSecrets(context)));
  if (!beforeStart) {
    // Reads an answer as the server reads those of upstreams: not loaded by other commands.
    const { checkUpstreams } = await import('./upstream-checks.ts');
    add('upstreams', await attempt(() => checkUpstreams(context)));
  }
  add('upstream answers', {
    ok: true,
    detail: 'not asked; tollgate upstream test does, for tokens',
  });
  add('open files', await attempt(checkOpenFiles));
  add('port', await attempt(() => checkPort(context)));
  const ok = checks.every((check) => check.ok);
  const width = Math.max(...checks.map((check) => check.name.length));
  const text = checks
    .map((check) => `${check.ok ? 'ok   ' : 'WRONG'}  ${check.name.padEnd(width)}  ${check.detail}`)
    .join('\n');
  return { json: { ok, checks }, text, exitCode: ok ? 0 : 1 };
}

/** What `work` resolves with, or why it failed. */
async function attempt<Result>(work: () => Awaitable<Result>): Promise<Result | Finding> {
  try {
    return await work();
  } catch (error) {
    return { ok: false, detail: messageOf(error).replaceAll('\n', '; ') };
  }
}

function checkConfig(context: Context): Finding {
  context.config();
  return { ok: true, detail: 'all settings are valid' };
}

async function openForChecks(context: Context): Promise<Database> {
  // Read-only: a missing file is a finding, and must not be created.
  await context.openDatabase({ readonly: true }).close();
  return context.openDatabase({ readonly: false });
}

/** A start makes the file where there is none, and says why where it does not. */
async function openBeforeStart(context: Context): Promise<Database | Finding> {
  const file = databaseFile(context.config().databaseUrl);
  if (file !== undefined && !existsSync(file)) return { ok: true, detail: 'made by this start' };
  return openForChecks(context);
}

const START_CHECKS: readonly [string, (database: Database) => Awaitable<Finding>][] = [
  ['database', checkWritable],
  ['migrations', checkMigrationsBeforeStart],
];

function databaseChecks(context: Context): [string, (database: Database) => Awaitable<Finding>][] {
  return [
    ['database', checkDatabase],
    ['migrations', checkMigrations],
    ['ledger', checkLedger],
    ['clock', (database) => checkClock(database, context.clock())],
    ['plans of accounts', (database) => checkPlans(database, context)],
    ['kept thinking', (database) => checkThinking(database, context)],
    ['kept answers', (database) => checkAnswers(database, context)],
  ];
}

async function checkDatabase(database: Database): Promise<Finding> {
  // PostgreSQL checks its own files.
  if (isSqlite(database) && !isIntact(database, 'quick')) {
    return { ok: false, detail: 'the file is damaged; keep a copy of it and restore a backup' };
  }
  await checkWritable(database);
  const space = isSqlite(database) ? spaceWords(fileSpace(database)) : '';
  return { ok: true, detail: `intact and writable${space}` };
}

async function checkWritable(database: Database): Promise<Finding> {
  await database.transaction(async () => undefined);
  return { ok: true, detail: 'writable' };
}

/** Free pages are for new rows; where they are most of the file, the disk may need them more. */
function spaceWords({ bytes, freeBytes }: FileSpace): string {
  const words = `; ${megabytes(freeBytes)} of its ${megabytes(bytes)} MB are free`;
  return freeBytes * 2 > bytes ? `${words}, which tollgate compact gives back` : words;
}

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);

async function checkMigrationsBeforeStart(database: Database): Promise<Finding> {
  const { applied, pending } = await migrationStatus(database);
  if (pending.length === 0) return { ok: true, detail: `all ${applied.length} applied` };
  return { ok: true, detail: `this start applies ${pending.join(', ')}` };
}

async function checkMigrations(database: Database): Promise<Finding> {
  const { applied, pending } = await migrationStatus(database);
  const dropped = pending.length === 0 ? await droppedTriggers(database) : [];
  if (dropped.length > 0) {
    const names = dropped.join(', ');
    return { ok: false, detail: `triggers were dropped (${names}); restore a backup` };
  }
  if (pending.length === 0) return { ok: true, detail: `all ${applied.length} applied` };
  return {
    ok: false,
    detail: `${pending.length} to apply (${pending.join(', ')}); run tollgate migrate`,
  };
}

/** Differences that are listed; the rest is only counted. */
const LISTED_DIFFERENCES_MAX = 50;

async function checkLedger(database: Database): Promise<Finding> {
  const listed: string[] = [];
  let count = 0;
  for await (const { kind, subject, accountId, detail } of findDifferences(database)) {
    count += 1;
    if (count > LISTED_DIFFERENCES_MAX) continue;
    const owner = accountId === null || accountId === subject ? '' : ` (account ${accountId})`;
    listed.push(`${kind} of ${subject}${owner}: ${detail}`);
  }
  if (count === 0) return { ok: true, detail: 'every balance is the sum of its entries' };
  if (count > listed.length) listed.push(`and ${count - listed.length} more`);
  return { ok: false, detail: `${count} differences: ${listed.join('; ')}` };
}

async function checkClock(database: Database, nowMs: number): Promise<Finding> {
  const [newest] = await database.rows<{ at: bigint | null }>(
    sql`select max(at) as at from (
      select max(${accounts.createdAt}) as at from ${accounts}
      union all select max(${openHolds.startedAt}) from ${openHolds}
      union all select max(${requests.startedAt} + ${requests.durationMs}) from ${requests}
      union all select max(${movements.at}) from ${movements}) as newest`,
  );
  const behindMs = Number(newest?.at ?? 0) - nowMs;
  if (behindMs <= 1_000) return { ok: true, detail: isoTime(nowMs) };
  const seconds = Math.ceil(behindMs / 1_000);
  return { ok: false, detail: `${seconds} seconds behind the newest record; set the clock` };
}

/** An operator may remove a plan from the catalog while accounts are on it. */
async function checkPlans(database: Database, context: Context): Promise<Finding> {
  const { plans } = context.catalog();
  const missing = (await accountsByPlan(database)).filter(([plan]) => !plans.has(plan));
  if (missing.length === 0) return { ok: true, detail: 'all in the catalog' };
  const words = missing.map(([plan, count]) => `${plan} (${count} accounts)`).join(', ');
  return {
    ok: false,
    detail: `not in the catalog, so these accounts are refused: ${words}; restore the plans, or move the accounts with account plan`,
  };
}

async function checkThinking(database: Database, context: Context): Promise<Finding> {
  const { reasoningStore, sessionSecret } = context.config();
  const { entries, bytes } = await keptThinking(database);
  const kept = `${entries} entries of ${bytes} bytes in all`;
  if (reasoningStore === 'off') return { ok: true, detail: `off; ${kept}, until the next start` };
  if (sessionSecret !== undefined) return { ok: true, detail: `${kept}, sealed by SESSION_SECRET` };
  return { ok: true, detail: `${kept}, lost at every start: SESSION_SECRET is not set` };
}

async function checkAnswers(database: Database, context: Context): Promise<Finding> {
  const { idempotency } = context.config();
  const { rows, bytes } = await keptAnswers(database);
  const kept = `${rows} requests with ${bytes} bytes of answers in all`;
  return { ok: true, detail: idempotency === 'off' ? `off; ${kept}, until the next start` : kept };
}

/** A price below its cost may be meant, so it is shown and never wrong. */
function checkCatalog(context: Context): Finding {
  const catalog = context.catalog();
  const { models, upstreams, plans } = catalog;
  const counts = `${models.length} models, ${upstreams.size} upstreams, ${plans.size} plans`;
  const warnings = priceWarnings(catalog, context.clock()).map(wordsOf);
  return { ok: true, detail: [counts, ...warnings].join('; ') };
}

/** Cannot fail: shows the profile of each upstream, and of each model that has another one. */
function checkProfiles(context: Context): Finding {
  const catalog = context.catalog();
  const chosen = chosenProfiles(catalog);
  const names = [...catalog.upstreams.values()].map((upstream) => {
    if (upstream.dialect === 'demo') return `${upstream.id}: none`;
    const others = chosen
      .filter((each) => each.upstream === upstream.id && each.profile !== upstream.profileName)
      .map(({ model, profile }) => `${model}: ${profile}`);
    const own = others.length === 0 ? '' : ` (${others.join(', ')})`;
    return `${upstream.id}: ${upstream.profileName}${own}`;
  });
  return {
    ok: true,
    detail: [names.join(', '), ...profileWarnings(catalog).map(wordsOf)].join('; '),
  };
}

function checkSecrets(context: Context): Finding {
  const upstreams = [...context.catalog().upstreams.values()];
  const without = upstreams.flatMap((upstream) =>
    upstream.dialect !== 'demo' &&
    upstream.auth.kind === 'key' &&
    upstream.credentials.some(({ apiKey }) => apiKey === '')
      ? [upstream.id]
      : [],
  );
  if (without.length === 0) return { ok: true, detail: 'present' };
  return { ok: true, detail: `none for ${without.join(', ')}, which is right for local upstreams` };
}

function checkOpenFiles(): Finding {
  const limit = readOpenFileLimit();
  if (limit === undefined) return { ok: true, detail: 'the limit is not known on this system' };
  if (limit >= OPEN_FILES_MIN) return { ok: true, detail: `at most ${limit}` };
  return {
    ok: false,
    detail: `at most ${limit}, and every stream takes two; raise it with ulimit -n ${OPEN_FILES_MIN}`,
  };
}

/** A busy port is fine when Tollgate itself answers there. */
async function checkPort(context: Context): Promise<Finding> {
  const { host, port } = context.config();
  if (port === 0) return { ok: true, detail: 'any free one' };
  try {
    Bun.listen({ hostname: host, port, socket: { data: () => undefined } }).stop(true);
    return { ok: true, detail: `${port} is free` };
  } catch {
    const healthy = await isHealthy(context.config(), '/healthz');
    if (healthy) return { ok: true, detail: `${port} is in use by a server that is alive` };
    return {
      ok: false,
      detail: `${port} cannot be used: it is taken, or not allowed to this user`,
    };
  }
}
