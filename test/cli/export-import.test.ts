// `tollgate export` and `tollgate import` as an operator runs them: their output, their refusals,
// and what they leave behind.

import { Database as Connection } from 'bun:sqlite';
import { beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { temporaryDirectory } from '../support/database.ts';
import { gatewayCommand, startGateway } from '../support/gateway.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { describeWithServices } from '../support/services.ts';
import { createTollgate } from './tollgate.ts';

const directory = temporaryDirectory();
const source = createTollgate(directory);
const into = (url: string) => createTollgate(directory, { DATABASE_URL: url });
const ARCHIVE = join(directory, 'moved.export.db');

type Side = {
  readonly sha256: string;
  readonly ledger: Readonly<Record<string, string>>;
  readonly rows: number;
};
let exported: Side;

beforeAll(async () => {
  for (const email of ['a@b.c', 'd@e.f']) {
    await source.json('account', 'create', '--email', email, '--credit', '12.5', '--verified');
  }
  const document = await source.json('export', 'moved.export.db');
  exported = document['export'] as Side;
});

test('an export says what it wrote, for its owner alone', async () => {
  expect(exported).toMatchObject({
    file: ARCHIVE,
    sha256: new Bun.CryptoHasher('sha256').update(readFileSync(ARCHIVE)).digest('hex'),
    tables: { accounts: 2, api_keys: 2, balances: 2 },
    ledger: { accounts: '2', posted: '25', movements_amount: '25', differences: '0' },
  });
  expect(statSync(ARCHIVE).mode & 0o777).toBe(0o600);
  const { stdout } = await source.run('export', 'reported.export.db');
  expect(stdout).toContain(`Wrote ${exported.rows} rows of `);
  expect(stdout).toMatch(/^posted +25$/m);
  expect(stdout).toContain('digests of keys and passwords');
});

test('an import prints both sides, and the keys go on', async () => {
  const target = into('sqlite:./two.db');
  const { stdout, exitCode } = await target.run('import', 'moved.export.db');
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^BOOKS +EXPORTED +IMPORTED$/m);
  expect(stdout).toMatch(/^posted +25 +25$/m);
  expect(stdout).toContain(`SHA-256 ${exported.sha256}.`);
  expect(stdout).toContain('The books are whole, and the same on both sides.');
  const show = async (of: typeof source) => of.json('account', 'show', 'a@b.c');
  expect(await show(target)).toEqual(await show(source));
  expect(await target.refusal('import', 'moved.export.db')).toEqual([1, 'database_not_empty']);
});

test('second factors stay readable: the secret that seals them is mentioned', async () => {
  writeFileSync(join(directory, 'data/session-secret'), `${'s'.repeat(40)}\n`, { mode: 0o600 });
  const { stdout } = await source.run('export', 'secret.export.db');
  expect(stdout).toContain('set SESSION_SECRET of the new installation');
  expect(stdout).not.toContain('sss');
});

test('memory does not grow with the database', async () => {
  const url = 'sqlite:./large.db';
  await into(url).json('migrate');
  using connection = new Connection(join(directory, 'large.db'));
  // 80 MB, of which a process that keeps what it has read would need more than twice as much.
  connection.run(`insert into settings
    with recursive count (number) as (select 1 union all select number + 1 from count limit 4000)
    select 'name' || number, hex(zeroblob(10000)), 0 from count`);
  expect(await memoryOf('export', url)).toBeLessThan(210);
  expect(await memoryOf('import', 'sqlite:./large-too.db')).toBeLessThan(210);
}, 60_000);

/**
 * The most that a command on the large file had in memory, in megabytes. What the system reports at
 * the end would be that of this process, of which the command's began as a copy.
 */
async function memoryOf(command: string, url: string): Promise<number> {
  const child = Bun.spawn([...gatewayCommand(), command, 'large.export.db'], {
    cwd: directory,
    env: { DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let most = 0;
  while (child.exitCode === null) {
    most = Math.max(most, highWaterOf(child.pid));
    await Bun.sleep(10);
  }
  expect(child.exitCode).toBe(0);
  expect(most).toBeGreaterThan(0);
  return most;
}

/** Of a process that runs; 0 where it has just ended. */
function highWaterOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

describe('what cannot be done is refused', () => {
  test('a file that is there, a directory that is not', async () => {
    expect(await source.refusal('export', 'moved.export.db')).toEqual([1, 'file_exists']);
    expect(await source.refusal('export', 'nowhere/moved.export.db')).toEqual([
      1,
      'file_not_writable',
    ]);
    mkdirSync(join(directory, 'folder'));
    expect(await into('sqlite:./no.db').refusal('import', 'folder')).toEqual([
      1,
      'file_not_usable',
    ]);
  });

  test('a database of an earlier version, which stays what it is', async () => {
    const path = join(directory, 'earlier.db');
    const earlier = openDatabase({ url: `sqlite:${path}`, sync: 'normal' });
    await migrate(earlier, []);
    await earlier.close();
    const target = into('sqlite:./earlier.db');
    expect(await target.refusal('export', 'earlier.export.db')).toEqual([1, 'database_outdated']);
    const { applied } = await target.json('migrate', '--status');
    expect(applied).toEqual([]);
  });

  test('a damaged file, before a database is made', async () => {
    const path = join(directory, 'cut.export.db');
    writeFileSync(path, readFileSync(ARCHIVE));
    truncateSync(path, statSync(path).size - 20);
    const target = into('sqlite:./three.db');
    expect(await target.refusal('import', 'cut.export.db')).toEqual([1, 'file_not_usable']);
    expect(await target.refusal('import', 'missing.export.db')).toEqual([1, 'file_not_usable']);
    expect(existsSync(join(directory, 'three.db'))).toBe(false);
  });

  test('a database that is served', async () => {
    await using gateway = await startGateway();
    const beside = createTollgate(gateway.directory);
    expect(await beside.refusal('export', 'served.export.db')).toEqual([1, 'database_unavailable']);
    expect(await beside.refusal('import', ARCHIVE)).toEqual([1, 'database_unavailable']);
    expect(existsSync(join(gateway.directory, 'served.export.db'))).toBe(false);
    await gateway.stop();
    await beside.json('export', 'served.export.db');
  }, 30_000);
});

describeWithServices('to PostgreSQL', ['PostgreSQL'], () => {
  let url = '';
  beforeAll(async () => {
    url = await newPostgresUrl();
  }, 60_000);

  test('an import and an export again', async () => {
    const target = into(url);
    const { import: imported } = await target.json('import', 'moved.export.db');
    expect(imported).toMatchObject({ exported: exported.ledger, ledger: exported.ledger });
    const again = (await target.json('export', 'again.export.db'))['export'];
    expect(again).toMatchObject({ ledger: exported.ledger, rows: exported.rows });
  });

  test('of two imports at once one is done, and the other finds a database that is full', async () => {
    const target = into(await newPostgresUrl());
    const both = await Promise.all([
      target.run('import', 'moved.export.db'),
      target.run('import', 'moved.export.db'),
    ]);
    expect(both.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1]);
    expect(both.map(({ stderr }) => stderr).join('')).toContain('The database is not empty');
  });

  test('a database that a node serves is refused by name', async () => {
    const DATABASE_URL = await newPostgresUrl();
    const environment = { DATABASE_URL, SESSION_SECRET: 's'.repeat(40) };
    await using gateway = await startGateway({ environment });
    const beside = createTollgate(gateway.directory, environment);
    expect(await beside.refusal('export', 'served.export.db')).toEqual([1, 'database_served']);
    expect(await beside.refusal('import', ARCHIVE)).toEqual([1, 'database_served']);
    await gateway.stop();
    await beside.json('export', 'served.export.db');
  }, 30_000);
});
