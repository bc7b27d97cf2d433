// Everything that a gateway leaves behind, as text to search: the output of its commands, the
// responses of its endpoints, and the rows and bytes of its database.

import { Database } from 'bun:sqlite';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Gateway, runCommand, type TestAccount } from '../../support/gateway.ts';
import type { Seen } from './canaries.ts';

/** What commands print, as text and as JSON. */
export async function commandsSeen(
  gateway: Gateway,
  environment: Readonly<Record<string, string>>,
  account: TestAccount,
  requestIds: readonly string[],
): Promise<Seen[]> {
  const commands = [
    ...['doctor', 'models', 'prices show', 'account list', 'code list', 'block list'],
    ...['catalog status', 'catalog check', 'maintenance status', 'receipts verify --all'],
    ...[`account show ${account.id}`, `key list ${account.id}`],
    ...[`receipts export --account ${account.id}`, 'backup backup.db'],
    ...requestIds.flatMap((id) => [`explain ${id}`, `receipts show ${id}`]),
    // What is refused is searched, too.
    ...['explain req_unknown', 'account show unknown@example.com', 'no-such-command'],
  ];
  const runs = commands.flatMap((command) =>
    command.startsWith('backup') ? [command] : [command, `${command} --json`],
  );
  const seen: Seen[] = [];
  const lane = async (): Promise<void> => {
    for (let run = runs.pop(); run !== undefined; run = runs.pop()) {
      const result = await runCommand(gateway.directory, environment, run.split(' '));
      seen.push({ place: 'command', where: run, text: result.stdout + result.stderr });
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return seen;
}

export async function endpointsSeen(
  gateway: Gateway,
  stranger: TestAccount,
  metricsToken: string,
): Promise<Seen[]> {
  const ask = async (place: Seen['place'], path: string, token?: string): Promise<Seen> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${gateway.url}${path}`, { headers });
    return { place, where: path, text: await textOf(response) };
  };
  const open = ['/', '/healthz', '/readyz', '/metrics', '/v1/models', '/nothing'];
  const own = ['/v1/models', '/v1/account', '/v1/api-keys', '/metrics', '/readyz'];
  return Promise.all([
    ...open.map((path) => ask('stranger', path)),
    ...own.map((path) => ask('stranger', path, stranger.key)),
    ...['/metrics', '/readyz'].map((path) => ask('operator', path, metricsToken)),
  ]);
}

/** Headers and body of an answer. */
export async function textOf(response: Response): Promise<string> {
  return `${JSON.stringify([...response.headers])}\n${await response.text()}`;
}

export function databaseSeen(gateway: Gateway): Seen[] {
  const database = new Database(gateway.databasePath, { readonly: true, safeIntegers: true });
  try {
    const tables = database
      .query<{ name: string }, []>("select name from sqlite_master where type = 'table'")
      .all();
    return tables.map(({ name }) => {
      const rows = database.query(`select * from "${name}"`).values();
      return { place: 'database', where: name, text: rows.flat().map(valueText).join('\n') };
    });
  } finally {
    database.close();
  }
}

function valueText(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);
}

/** The bytes of the database, its log and a backup of it. */
export function filesSeen(gateway: Gateway): Seen[] {
  const data = join(gateway.directory, 'data');
  const paths = [
    ...readdirSync(data).map((name) => join(data, name)),
    join(gateway.directory, 'backup.db'),
  ];
  return paths.map((path) => ({ place: 'files', where: path, text: readFileSync(path, 'latin1') }));
}
