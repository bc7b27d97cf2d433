// The files of archived months that a customer gets: the recorded ones, and no others.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { copyFileSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { OwnDependencies } from '../../../src/dashboard/customer/account.ts';
import { createExports } from '../../../src/dashboard/customer/exports.ts';
import { archiveRoutes } from '../../../src/dashboard/customer/receipts.ts';
import { listArchives } from '../../../src/ledger/archive/anchors.ts';
import { monthFiles } from '../../../src/operations/archive/files.ts';
import { archiveAll, BEGIN_MS, live, openPast } from '../../operations/archive/past.ts';
import { temporaryDirectory } from '../../support/database.ts';
import { closeBooks, type OpenBooks } from '../../support/ledger.ts';

setDefaultTimeout(60_000);

const MONTH = '2026-05';
const directory = temporaryDirectory();
const folder = join(directory, 'archive');
const exports = createExports();
let open: OpenBooks;

beforeAll(async () => {
  open = await openPast(directory);
  const event = { what: 'credit', afterHours: 1 } as const;
  // The same events at the same hours: files of nearly the same size.
  await live(
    open,
    [0, 1].map((account) => ({ ...event, account })),
    BEGIN_MS,
  );
  await archiveAll(open, folder, BEGIN_MS + 90 * 86_400_000);
  const archives = await listArchives(open.database.db);
  files = new Map(
    archives.map((archive) => [archive.accountId, monthFiles(folder, archive).receipts]),
  );
});

afterAll(() => closeBooks(open));

function ask(accountId: string, path: string, more: object = {}): Promise<unknown> {
  const parts = { store: { database: open.database }, archives: folder };
  const route = archiveRoutes(parts as unknown as OwnDependencies, exports).find(
    (each) => each.path === path,
  );
  const request = new Request('http://gateway.test/');
  const call = { who: { accountId }, param: () => MONTH, request, ...more };
  return Promise.resolve(route?.handle(call as never));
}

let files: ReadonlyMap<string, string>;

const fileOf = (accountId: string): string => files.get(accountId) ?? '';

const listed = async (accountId: string) =>
  (await ask(accountId, '/archives')) as { data: { month: string; has_file: boolean }[] };

const download = async (accountId: string): Promise<Buffer> =>
  Buffer.from(
    await ((await ask(accountId, '/archives/:month/receipts')) as Response).arrayBuffer(),
  );

test('a customer gets the file of an own month', async () => {
  const own = readFileSync(fileOf('acct_ada'));
  expect(await download('acct_ada')).toEqual(own);
  expect((await listed('acct_ada')).data).toMatchObject([{ month: MONTH, has_file: true }]);
});

test('a file in another one’s place is given to no customer, also if it has the same size', async () => {
  const [own, other] = ['acct_ada', 'acct_bob'].map(fileOf) as [string, string];
  const [bytes, kept] = [readFileSync(own), `${own}.kept`];
  copyFileSync(own, kept);
  // Of the recorded size, as the files of two small months often are.
  await Bun.write(
    own,
    Buffer.concat([readFileSync(other), Buffer.alloc(bytes.length)]).subarray(0, bytes.length),
  );
  await expect(download('acct_ada')).rejects.toMatchObject({ code: 'not_found' });
  copyFileSync(kept, own);
  expect(await download('acct_ada')).toEqual(bytes);
});

test('a file takes a slot until it is sent, and its connection lives as long', async () => {
  const seen: number[] = [];
  const server = { timeout: (_: unknown, seconds: number) => seen.push(seconds) };
  const file = (): Promise<unknown> => ask('acct_ada', '/archives/:month/receipts', { server });
  const [one, two] = (await Promise.all([file(), file()])) as [Response, Response];
  await expect(file()).rejects.toMatchObject({ code: 'too_many_attempts' });
  await Promise.all([one.bytes(), two.body?.cancel()]);
  expect(await download('acct_ada')).toEqual(readFileSync(fileOf('acct_ada')));
  expect([seen[0], seen.at(-1)]).toEqual([240, 60]);
});

test('an account gets two files at a time, because each is read whole first', async () => {
  const outcomes = await Promise.allSettled(
    ['acct_ada', 'acct_ada', 'acct_ada', 'acct_bob'].map(download),
  );
  expect(outcomes.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  ] as (typeof outcomes)[number]['status'][]);
  expect(outcomes[2]).toMatchObject({ reason: { code: 'too_many_attempts' } });
  expect(await download('acct_ada')).toEqual(readFileSync(fileOf('acct_ada')));
});

test('a name that leads nowhere is a missing file, and no failure of the page', async () => {
  const own = fileOf('acct_bob');
  rmSync(own);
  symlinkSync(own, own);
  expect((await listed('acct_bob')).data).toMatchObject([{ month: MONTH, has_file: false }]);
  await expect(download('acct_bob')).rejects.toMatchObject({ code: 'not_found' });
});
