// The past of a round whose gateway archives: old requests of accounts that no client of the round
// uses, so that kills hit the archiving. The laws of the clients leave them out; commands judge them.

import { sql } from 'drizzle-orm';
import { accountName, writeHistory } from '../../scripts/benchmark/history.ts';
import { createRollUp } from '../../src/ledger/series/roll-up.ts';
import { connectDatabase } from '../../src/store/connect.ts';
import { type Gateway, runCommand } from '../support/gateway.ts';
import type { Verdict } from './books.ts';
import { ACCOUNTS } from './setup.ts';

export const ARCHIVING = { RETENTION_DAYS: '31' };

const COUNT = 4;
const OLD: ReadonlySet<string> = new Set(Array.from({ length: COUNT }, (_, at) => accountName(at)));

/** Whether an account of the books is one of the past. */
export const isOfPast = (accountId: unknown): boolean => OLD.has(String(accountId));

/** Whether a movement is one of the past. */
export const isPastMovement = (transferId: unknown): boolean =>
  String(transferId ?? '').startsWith('bench-');

/** Starts a gateway that has requests of 200 days, most of which are to be archived. */
export async function startWithPast(start: (directory?: string) => Promise<Gateway>) {
  const { directory, databasePath, stop } = await start();
  await stop();
  const url = `sqlite:${databasePath}`;
  const database = connectDatabase({ url, sync: 'normal', patient: true });
  await writeHistory(database, { requests: 1_500, accounts: COUNT, days: 200, nowMs: Date.now() });
  // Its plan is in no catalog of a round.
  await database.rows(
    sql`update accounts set plan = ${ACCOUNTS[0]?.name ?? ''} where plan = 'bench'`,
  );
  const rollUp = createRollUp(database);
  while ((await rollUp.step(2_000)) > 0);
  await database.close();
  return start(directory);
}

/** The files of archives fit the books, although servers were killed while they wrote them. */
export async function checkArchives(directory: string): Promise<Verdict> {
  const words = ['archive', 'verify', '--json'];
  const { code, stdout, stderr } = await runCommand(directory, {}, words);
  const checked = code === 0 ? (JSON.parse(stdout) as { checked: unknown[] }).checked.length : 0;
  return { command: words.join(' '), ok: checked > 0, said: `${checked} checked; ${stderr}` };
}
