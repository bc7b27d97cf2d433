// Automatic backups by the executable: the first one seconds after the start, verified, beside
// requests; what a crash and a full disk leave; and what the operator reads.

import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openCopy } from '../../src/store/sqlite-copy.ts';
import { catalogFor, ROOMY_PLAN } from '../support/catalog.ts';
import { generate } from '../support/client.ts';
import { createOperator } from '../support/customer.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { parseMetrics, sumOf } from '../support/metrics.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { startUpstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const upstream = await startUpstream();
afterAll(() => upstream.close());

const catalog = catalogFor(upstream, ['ok'], { plans: { roomy: ROOMY_PLAN } });

/** The backups, without copies in progress. */
function backupsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.db'));
}

const hasBackup = (folder: string) => (): boolean => {
  try {
    return backupsIn(folder).length > 0;
  } catch {
    return false;
  }
};

async function warningsOf({ url }: Gateway): Promise<unknown> {
  const answer = await fetch(`${url}/readyz`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { readonly warnings: unknown }).warnings;
}

async function metricsOf({ url }: Gateway) {
  return parseMetrics(await (await fetch(`${url}/metrics`)).text());
}

test.concurrent('the first backup is made at once, while requests are served, and is a whole database', async () => {
  await using gateway = await startGateway({ catalog, environment: { BACKUP_DIR: 'backups' } });
  const folder = join(gateway.directory, 'backups');
  const ann = await gateway.createAccount({ plan: 'roomy' });
  const statuses = new Set<number>();
  while (!hasBackup(folder)()) statuses.add((await generate(ann, 'chat', 'ok')).status);
  expect([...statuses]).toEqual([200]);
  const [name = ''] = backupsIn(folder);
  expect(name).toMatch(/^tollgate-\d{8}T\d{6}Z\.db$/);
  expect([folder, join(folder, name)].map((path) => statSync(path).mode & 0o777)).toEqual([
    0o700, 0o600,
  ]);
  await waitUntil(() => gateway.output().includes('backup: wrote'));
  expect(await warningsOf(gateway)).toEqual([]);
  const metrics = await metricsOf(gateway);
  expect(sumOf(metrics, 'tollgate_backups_total', { result: 'made' })).toBe(1);
  expect(sumOf(metrics, 'tollgate_backups_kept')).toBe(1);
  expect(sumOf(metrics, 'tollgate_backup_bytes')).toBe(statSync(join(folder, name)).size);
  expect(sumOf(metrics, 'tollgate_backup_age_seconds')).toBeWithin(0, 60);

  // The next start finds it young enough.
  await gateway.stop();
  const { directory, environment } = gateway;
  await using again = await startGateway({ directory, environment });
  await waitUntil(async () => (await warningsOf(again)) !== undefined);
  await waitUntil(async () => sumOf(await metricsOf(again), 'tollgate_backups_kept') === 1);
  expect(backupsIn(folder)).toEqual([name]);

  // It is restored after everything else is lost.
  await again.stop();
  rmSync(join(directory, 'data'), { recursive: true });
  const restored = await again.run('restore', join(folder, name));
  expect(restored).toMatchObject({ restore: { replaced: true, differences: 0 } });
  await using third = await startGateway({ directory, environment });
  expect((await generate({ ...ann, url: third.url }, 'chat', 'ok')).status).toBe(200);
});

test.concurrent('the backups of a lost database stay beside those of the empty one that took its place', async () => {
  const environment = { BACKUP_DIR: 'backups', BACKUP_EVERY_HOURS: '0.001', BACKUP_KEEP: '1' };
  await using gateway = await startGateway({ catalog, environment });
  const { directory } = gateway;
  const folder = join(directory, 'backups');
  const ann = await gateway.createAccount({ plan: 'roomy' });
  const good = join(folder, 'tollgate-20200101T000000Z.db');
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  await gateway.run('backup', good);
  rmSync(join(directory, 'data'), { recursive: true });
  await using empty = await startGateway({ directory, environment: gateway.environment });
  await waitUntil(
    () => empty.output().includes('older than this database or its restore (1)'),
    20_000,
  );
  await waitUntil(async () => {
    const made = sumOf(await metricsOf(empty), 'tollgate_backups_total', { result: 'made' });
    return made >= 2 && backupsIn(folder).length === 2;
  }, 40_000);
  await empty.stop();
  // The names have whole seconds, so those of the second of the restore would count for it.
  const ageMs = (name: string): number => Date.now() - statSync(join(folder, name)).mtimeMs;
  await waitUntil(() => backupsIn(folder).every((name) => ageMs(name) >= 2_000));
  await empty.run('restore', good, '--yes');
  await using restored = await startGateway({ directory, environment: gateway.environment });
  expect((await generate({ ...ann, url: restored.url }, 'chat', 'ok')).status).toBe(200);
  // Neither it nor those of the empty one count for the restored books.
  await waitUntil(
    async () => sumOf(await metricsOf(restored), 'tollgate_backups_total', { result: 'made' }) >= 2,
    40_000,
  );
  expect(sumOf(await metricsOf(restored), 'tollgate_backups_kept')).toBe(1);
  expect([existsSync(good), backupsIn(folder).length]).toEqual([true, 3]);
});

test.concurrent('backups follow the interval, and the oldest ones are removed', async () => {
  // 0.001 hours are 3.6 s.
  const environment = { BACKUP_DIR: 'backups', BACKUP_EVERY_HOURS: '0.001', BACKUP_KEEP: '2' };
  await using gateway = await startGateway({ catalog, environment });
  const folder = join(gateway.directory, 'backups');
  await waitUntil(hasBackup(folder), 20_000);
  const [first = ''] = backupsIn(folder);
  await waitUntil(async () => {
    const made = sumOf(await metricsOf(gateway), 'tollgate_backups_total', { result: 'made' });
    return made >= 3 && !backupsIn(folder).includes(first);
  }, 40_000);
  expect(backupsIn(folder).length).toBeLessThanOrEqual(2);
});

test.concurrent('a crash in the middle leaves no file that looks whole, and the next start cleans up', async () => {
  await using gateway = await startGateway({ catalog, environment: { BACKUP_DIR: 'backups' } });
  const folder = join(gateway.directory, 'backups');
  const seen = new Set<string>();
  await waitUntil(() => {
    try {
      for (const name of readdirSync(folder)) seen.add(name);
    } catch {
      return false;
    }
    return seen.size > 0;
  });
  await gateway.kill();
  // The process of the backup may outlive the server; each file with a whole name is whole.
  for (const name of backupsIn(folder)) {
    const copy = openCopy(join(folder, name));
    expect(copy.connection.query('PRAGMA integrity_check').all()).toEqual([
      { integrity_check: 'ok' },
    ]);
    await copy.close();
  }
  const remains = 'tollgate-20200101T000000Z.db.partial';
  closeSync(openSync(join(folder, remains), 'w'));
  for (const name of backupsIn(folder)) rmSync(join(folder, name));
  const { directory, environment } = gateway;
  await using again = await startGateway({ directory, environment });
  await waitUntil(() => hasBackup(folder)() && !readdirSync(folder).includes(remains), 20_000);
  expect(await again.stop()).toBe(0);
});

test.concurrent('a folder whose path is a file is an alert and a warning in the console, and requests are served', async () => {
  await using gateway = await startGateway({
    catalog,
    environment: { BACKUP_DIR: 'catalog.toml' },
  });
  await waitUntil(() => gateway.output().includes('backup: the folder of BACKUP_DIR'), 20_000);
  expect(await warningsOf(gateway)).toEqual(['the last backup failed']);
  const { session } = await createOperator(gateway);
  const { json } = await session.get('/overview');
  expect(json).toMatchObject({
    live: { open: { problems: [{ text: 'the last backup failed' }] } },
  });
  const ann = await gateway.createAccount({ plan: 'roomy' });
  expect((await generate(ann, 'chat', 'ok')).status).toBe(200);
});

test.concurrent('a second server makes no backup in the folder of the first, and removes nothing there', async () => {
  await using first = await startGateway({ catalog, environment: { BACKUP_DIR: 'backups' } });
  const folder = join(first.directory, 'backups');
  await waitUntil(() => first.output().includes('backup: wrote'), 20_000);
  const [name] = backupsIn(folder);
  const partial = 'tollgate-20200101T000000Z.db.partial';
  closeSync(openSync(join(folder, partial), 'w'));
  await using second = await startGateway({ catalog, environment: { BACKUP_DIR: folder } });
  await waitUntil(() => second.output().includes('another server keeps the backups'), 20_000);
  expect(await warningsOf(second)).toEqual(['the last backup failed']);
  expect(readdirSync(folder)).toContain(partial);
  expect(backupsIn(folder)).toEqual([name ?? '']);
  // The lock of a killed server is free.
  await first.kill();
  await second.stop();
  const { directory, environment } = second;
  rmSync(join(folder, name ?? ''));
  await using again = await startGateway({ directory, environment });
  await waitUntil(() => again.output().includes('backup: wrote'), 20_000);
  expect(await warningsOf(again)).toEqual([]);
});

const disk = mountSmallDisk(80);

describe.skipIf(disk === undefined)('a disk without space', () => {
  afterAll(() => disk?.remove());

  test('for the copy and the database is an alert, harms no request, and keeps the last backup', async () => {
    const directory = join(disk?.path ?? '', 'gateway');
    mkdirSync(directory);
    const environment = {
      BACKUP_DIR: 'backups',
      BACKUP_EVERY_HOURS: '0.001',
      BACKUP_KEEP: '1',
      OPERATOR_PORT: 'off',
    };
    await using gateway = await startGateway({ directory, catalog, environment });
    const folder = join(directory, 'backups');
    const ann = await gateway.createAccount({ plan: 'roomy' });
    await waitUntil(hasBackup(folder), 20_000);
    disk?.leave(4 * 1_024 * 1_024);
    await waitUntil(() => gateway.output().includes('too little space'), 20_000);
    for (let count = 0; count < 20; count += 1) {
      expect((await generate(ann, 'chat', 'ok')).status).toBe(200);
    }
    expect(backupsIn(folder)).toHaveLength(1);
    expect(await warningsOf(gateway)).toContain('the last backup failed');
    disk?.free();
    const failed = backupsIn(folder);
    await waitUntil(() => backupsIn(folder).some((name) => !failed.includes(name)), 20_000);
    expect(await gateway.stop()).toBe(0);
  });
});
