// `tollgate backup` and `tollgate restore` on real files: what a copy is checked for, what a restore
// says before it replaces anything, and what it refuses.

import { Database as Connection } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Work } from '../../src/cli/command.ts';
import { createContext } from '../../src/cli/context.ts';
import { addRestoreCommand } from '../../src/cli/restore.ts';
import { messageOf } from '../../src/core/message-of.ts';
import { ownDatabase } from '../../src/store/owner.ts';
import { temporaryDirectory } from '../support/database.ts';
import { gatewayCommand } from '../support/gateway.ts';
import { createTollgate } from './tollgate.ts';

setDefaultTimeout(60_000);

async function newInstallation() {
  const directory = temporaryDirectory();
  const tollgate = createTollgate(directory);
  const ann = await tollgate.json(
    ...['account', 'create', '--email', 'ann@example.com', '--credit', '1000', '--verified'],
  );
  return {
    directory,
    tollgate,
    ann: (ann['account'] as { readonly id: string }).id,
    database: join(directory, 'data/tollgate.db'),
    backup: join(directory, 'copy.db'),
  };
}

test('says what is newer, changes nothing without --yes, and keeps the old file with it', async () => {
  const { directory, tollgate, ann, database, backup } = await newInstallation();
  await tollgate.json('backup', 'copy.db');
  await tollgate.json('account', 'credit', ann, '250.5');
  await tollgate.json('account', 'create', '--email', 'bea@example.com', '--credit', '7');
  const keys = (await tollgate.json('key', 'list', ann))['data'] as { readonly id: string }[];
  await tollgate.json('key', 'revoke', keys[0]?.id ?? '');

  await tollgate.json('block', 'add', 'network', '203.0.113.0/24', '--reason', 'attack');
  await tollgate.json('account', 'suspend', ann);

  // A session of the copy, which may have been ended since.
  const copy = new Connection(backup);
  copy.run(
    `INSERT INTO sign_in_users (id, realm, email, two_factor_enabled, created_at)
      VALUES ('u', 'operator', 'op@example.com', 0, 0)`,
  );
  copy.run(
    `INSERT INTO sign_in_sessions VALUES ('s', 'u', 'digest', 0, 0, 0, 9e15, '10.0.0.1', 'agent')`,
  );
  copy.close();

  const asked = await tollgate.run('restore', 'copy.db', '--json');
  const newer = {
    requests: 0,
    debited_tokens: '0',
    movements: 2,
    credited_tokens: '257.5',
    accounts: 1,
    keys: 1,
    revocations: 1,
    restrictions: 2,
    operators: 1,
    deletions: 0,
    backup_ends_at: expect.any(String),
    foreign_entries: 0,
  };
  const record = {
    file: backup,
    database,
    replaced: false,
    kept_as: null as unknown,
    kept_logs: [],
    differences: 0,
    present: 'compared',
    newer,
  };
  expect([asked.exitCode, JSON.parse(asked.stdout)]).toEqual([1, { restore: record }]);
  expect((await tollgate.json('account', 'list'))['data']).toHaveLength(2);

  const done = await tollgate.json('restore', 'copy.db', '--yes');
  const aside = expect.stringMatching(/tollgate\.db\.replaced-\d{8}T\d{6}Z$/);
  expect(done).toEqual({ restore: { ...record, replaced: true, kept_as: aside } });
  expect((await tollgate.json('account', 'list'))['data']).toEqual([
    expect.objectContaining({ id: ann, balance: expect.objectContaining({ total: '1000' }) }),
  ]);
  const kept = String((done['restore'] as { readonly kept_as: string }).kept_as);
  const trail = await tollgate.json('audit', '--action', 'database.restored');
  expect(trail['data']).toMatchObject([
    {
      subject: 'copy.db',
      actor: 'operator',
      detail: { file: backup, kept_as: kept, movements: 2, revocations: 1 },
    },
  ]);
  const restored = new Connection(database, { readonly: true });
  expect(restored.query('SELECT id FROM sign_in_users').all()).toHaveLength(1);
  expect(restored.query('SELECT id FROM sign_in_sessions').all()).toEqual([]);
  restored.close();
  const old = createTollgate(directory, { DATABASE_URL: `sqlite:${kept}` });
  expect((await old.json('account', 'list'))['data']).toHaveLength(2);
  expect([database, kept].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
  expect(existsSync(backup)).toBe(true);
});

test('refuses while a server has the database, and while its file is missing under it', async () => {
  const { tollgate, database } = await newInstallation();
  await tollgate.json('backup', 'copy.db');
  const release = ownDatabase(`sqlite:${database}`);
  const before = readFileSync(database);
  expect(await tollgate.refusal('restore', 'copy.db', '--yes')).toEqual([
    1,
    'database_unavailable',
  ]);
  expect(readFileSync(database)).toEqual(before);
  rmSync(database);
  expect(await tollgate.refusal('restore', 'copy.db', '--yes')).toEqual([
    1,
    'database_unavailable',
  ]);
  expect(existsSync(database)).toBe(false);
  release();
  expect(await tollgate.json('restore', 'copy.db')).toMatchObject({
    restore: { replaced: true, kept_as: null, present: 'none' },
  });
});

test('refuses while another process has the database open', async () => {
  const { tollgate, database } = await newInstallation();
  await tollgate.json('backup', 'copy.db');
  const other = new Connection(database);
  other.query('SELECT count(*) FROM accounts').get();
  expect(await tollgate.refusal('restore', 'copy.db', '--yes')).toEqual([
    1,
    'database_unavailable',
  ]);
  other.close();
  expect(await tollgate.json('restore', 'copy.db', '--yes')).toMatchObject({
    restore: { replaced: true },
  });
});

test('refuses where a command books after the comparison, whose credit would be lost', async () => {
  const { directory, tollgate, ann, database } = await newInstallation();
  await tollgate.json('backup', 'copy.db');
  let restore: Work<{ yes: boolean }> | undefined;
  addRestoreCommand(new Command(), (_command, work) => {
    restore = work as unknown as typeof restore;
  });
  const context = createContext({ DATABASE_URL: `sqlite:${database}` }, directory);
  let booked: string | undefined;
  /** First read between the comparison and the replacement. */
  const clock = (): number => {
    booked ??= Bun.spawnSync([...gatewayCommand(), 'account', 'credit', ann, '7'], {
      ...{ cwd: directory, env: {} },
    }).stdout.toString();
    return context.clock();
  };
  const restored = (async () => restore?.({ ...context, clock }, { yes: true }, 'copy.db'))();
  expect(await restored.then(() => 'restored', messageOf)).toContain('has changed the database');
  expect(booked).toContain('7');
  expect(readdirSync(join(directory, 'data')).filter((name) => /restor|replac/.test(name))).toEqual(
    [],
  );
  expect(existsSync(database)).toBe(true);
  const { stdout } = await tollgate.run('restore', 'copy.db', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ restore: { newer: { credited_tokens: '7' } } });
  expect(await tollgate.json('restore', 'copy.db', '--yes')).toMatchObject({
    restore: { newer: { credited_tokens: '7' }, replaced: true },
  });
});

test('refuses a file that is missing, damaged, foreign, from a newer version, or the database itself', async () => {
  const { directory, tollgate, database } = await newInstallation();
  await tollgate.json('backup', 'copy.db');
  const bytes = readFileSync(join(directory, 'copy.db'));
  bytes.fill(0x5a, 8_192, 40_960);
  writeFileSync(join(directory, 'torn.db'), bytes);
  writeFileSync(join(directory, 'text.db'), 'not a database at all'.repeat(100));
  // For SQLite, an empty file is a database without tables.
  writeFileSync(join(directory, 'empty.db'), '');
  const other = new Connection(join(directory, 'other.db'));
  other.run('CREATE TABLE cats (name)');
  other.close();
  copyFileSync(join(directory, 'copy.db'), join(directory, 'newer.db'));
  const newer = new Connection(join(directory, 'newer.db'));
  newer.run("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 9e12)");
  newer.close();
  const before = readFileSync(database);
  const refused = ['missing.db', 'torn.db', 'text.db', 'empty.db', 'other.db', 'data/tollgate.db'];
  const refusals = [];
  // One after the other: a restore owns the database while it runs.
  for (const file of [...refused, 'newer.db']) {
    refusals.push(await tollgate.refusal('restore', file, '--yes'));
  }
  expect(refusals).toEqual([
    [1, 'file_not_usable'],
    [1, 'backup_damaged'],
    [1, 'backup_foreign'],
    [1, 'backup_foreign'],
    [1, 'backup_foreign'],
    [1, 'file_not_usable'],
    [1, 'backup_newer'],
  ]);
  expect(await tollgate.refusal('restore', 'empty.db')).toEqual([1, 'backup_foreign']);
  expect(readFileSync(database)).toEqual(before);
  expect(readdirSync(join(directory, 'data')).filter((name) => name.includes('restoring'))).toEqual(
    [],
  );
});

test('replaces a damaged database, and keeps it as it was', async () => {
  const { tollgate, ann, database } = await newInstallation();
  await tollgate.json('backup', 'copy.db');
  const bytes = readFileSync(database);
  bytes.fill(0x5a, 0, 4_096);
  writeFileSync(database, bytes);
  const done = await tollgate.json('restore', 'copy.db', '--yes');
  expect(done).toMatchObject({ restore: { replaced: true, present: 'unreadable', newer: null } });
  expect(await tollgate.json('account', 'show', ann)).toMatchObject({ account: { id: ann } });
  const kept = String((done['restore'] as { readonly kept_as: string }).kept_as);
  expect(readFileSync(kept)).toEqual(bytes);
});

test('keeps a log whose database is gone, and does not apply it to the backup', async () => {
  const { tollgate, ann, database } = await newInstallation();
  await tollgate.json('backup', 'copy.db');
  const connection = new Connection(database);
  connection.run("UPDATE accounts SET email = 'log@example.com'");
  const log = readFileSync(`${database}-wal`);
  connection.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${database}${suffix}`, { force: true });
  writeFileSync(`${database}-wal`, log);
  writeFileSync(`${database}-journal`, 'of a process that was killed');

  const done = await tollgate.run('restore', 'copy.db');
  expect(done.exitCode).toBe(0);
  const aside = /(\S+\.replaced-\S+-wal)/.exec(done.stdout)?.[1] ?? '';
  expect(readFileSync(aside).equals(log)).toBe(true);
  expect(existsSync(aside.replace(/wal$/, 'journal'))).toBe(true);
  expect(existsSync(`${database}-journal`)).toBe(false);
  expect((await tollgate.json('account', 'list'))['data']).toEqual([
    expect.objectContaining({ id: ann, email: 'ann@example.com' }),
  ]);
});

test('says where the backup has entries that the present database lacks', async () => {
  const { directory, tollgate } = await newInstallation();
  const other = await newInstallation();
  await other.tollgate.json('backup', 'copy.db');
  copyFileSync(other.backup, join(directory, 'foreign.db'));
  const { exitCode, stdout } = await tollgate.run('restore', 'foreign.db');
  expect(exitCode).toBe(1);
  expect(stdout).toContain('The backup has 1 entries that the present database lacks:');
});

test('a backup whose books differ is kept under a name that says so, with exit code 1', async () => {
  const { directory, tollgate, database, backup } = await newInstallation();
  const connection = new Connection(database);
  connection.run('UPDATE balances SET posted = posted + 1');
  connection.close();
  const { exitCode, stdout } = await tollgate.run('backup', 'copy.db', '--json');
  const made = JSON.parse(stdout).backup;
  expect([exitCode, made]).toEqual([
    1,
    {
      file: `${backup}.unverified`,
      bytes: statSync(`${backup}.unverified`).size,
      integrity: 'ok',
      differences: expect.any(Number),
    },
  ]);
  expect(made.differences).toBeGreaterThan(0);
  expect(readdirSync(directory).sort()).toEqual(['copy.db.unverified', 'data']);
});

test('a backup of a damaged database is removed', async () => {
  const { directory, tollgate, database } = await newInstallation();
  const connection = new Connection(database);
  connection.run('PRAGMA journal_mode = DELETE');
  connection.close();
  const bytes = readFileSync(database);
  bytes.fill(0x5a, 8_192, 40_960);
  writeFileSync(database, bytes);
  const [exitCode] = await tollgate.refusal('backup', 'copy.db');
  expect([exitCode, readdirSync(directory)]).toEqual([1, ['data']]);
});

test('a backup that is killed leaves no file with its name', async () => {
  const { directory, tollgate, database } = await newInstallation();
  const connection = new Connection(database);
  connection.run('CREATE TABLE filler (bytes blob)');
  for (let row = 0; row < 150; row += 1) {
    connection.run('INSERT INTO filler VALUES (randomblob(1000000))');
  }
  connection.close();
  const partial = join(directory, 'copy.db.partial');
  const preload = join(import.meta.dir, '../support/never-linked.ts');
  const child = Bun.spawn([...gatewayCommand(preload), 'backup', 'copy.db'], {
    cwd: directory,
    env: {},
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  while ((statSync(partial, { throwIfNoEntry: false })?.size ?? 0) < 1_000_000) await Bun.sleep(1);
  child.kill('SIGKILL');
  await child.exited;
  const others = readdirSync(directory).filter((name) => !name.startsWith('copy.db.partial'));
  expect(others).toEqual(['data']);
  expect(await tollgate.refusal('backup', 'copy.db')).toEqual([1, 'file_exists']);
});

test('PostgreSQL is refused with what to use instead', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'data'));
  writeFileSync(join(directory, 'copy.db'), '');
  const url = 'postgres://user@127.0.0.1:1/none';
  const tollgate = createTollgate(directory, { DATABASE_URL: url });
  expect(await tollgate.refusal('restore', 'copy.db')).toEqual([1, 'restore_unsupported']);
  const serve = createTollgate(directory, { DATABASE_URL: url, BACKUP_DIR: 'backups' });
  const { exitCode, stderr } = await serve.run('serve');
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(
      'BACKUP_DIR needs SQLite in DATABASE_URL: back PostgreSQL up with pg_dump',
    ),
  ]);
});
