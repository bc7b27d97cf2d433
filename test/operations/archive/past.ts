// A gateway with some months behind it: accounts with credits, answers and releases, drawn by a seed
// and written by the ledger, with the usage added up.

import { sql } from 'drizzle-orm';
import { createRequestId } from '../../../src/core/id.ts';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import { type RetentionReport, runRetention } from '../../../src/operations/archive/run.ts';
import type { Database } from '../../../src/store/contract.ts';
import {
  addAccount,
  creditOf,
  holdOf,
  type OpenBooks,
  openBooks,
  releaseOf,
  settleOf,
} from '../../support/ledger.ts';

export const ACCOUNTS = ['acct_ada', 'acct_bob', 'acct_eve'] as const;

const HOUR_MS = 3_600_000;

/** The first instant of a drawn past. */
export const BEGIN_MS = Date.UTC(2026, 4, 20);

/** What one account does, so many hours after the last event of all. */
export type PastEvent = {
  readonly account: number;
  readonly what: 'credit' | 'settle' | 'release' | 'lose' | 'take back';
  readonly afterHours: number;
};

let drawn = 0;

/** Writes events in their order. Returns the time after the last one, and the ids of requests. */
export async function live(
  { ledger }: Pick<OpenBooks, 'ledger'>,
  events: readonly PastEvent[],
  fromMs: number,
): Promise<{ readonly nowMs: number; readonly ids: readonly string[] }> {
  const ids: string[] = [];
  let nowMs = fromMs;
  for (const { account, what, afterHours } of events) {
    nowMs += afterHours * HOUR_MS;
    drawn += 1;
    const id = ACCOUNTS[account % ACCOUNTS.length] ?? ACCOUNTS[0];
    if (what === 'credit' || what === 'take back') {
      const amount = what === 'credit' ? 100_000n : -1n;
      const kind = what === 'credit' ? 'credit' : 'adjustment';
      await ledger.credit({ ...creditOf(`c${drawn}`, id, amount), kind, nowMs }).catch(() => 0);
      continue;
    }
    const requestId = createRequestId(nowMs, (length) =>
      crypto.getRandomValues(new Uint8Array(length)),
    );
    const hold = { ...holdOf(requestId, id, 30n), endUser: `user-${drawn % 3}`, nowMs };
    if (!(await ledger.hold(hold)).ok) continue;
    const ends = nowMs + 1_500;
    if (what === 'release') await ledger.release({ ...releaseOf(requestId), nowMs: ends });
    else {
      const charge = what === 'lose' ? 1_000_000_000_000n : 15n;
      await ledger.settle({ ...settleOf(requestId, charge), nowMs: ends });
    }
    ids.push(requestId);
  }
  return { nowMs, ids };
}

/** Accounts without a past. */
export async function openPast(directory: string): Promise<OpenBooks & AsyncDisposable> {
  const open = await openBooks(directory);
  for (const id of ACCOUNTS) await addAccount(open, id);
  return open;
}

/** Archives are made of usage that is in the series. */
export async function addUp(database: Database): Promise<void> {
  const rollUp = createRollUp(database);
  while ((await rollUp.step(1_000)) > 0);
}

export async function archiveAll(
  { database }: Pick<OpenBooks<Database>, 'database'>,
  directory: string,
  nowMs: number,
  retentionDays = 31,
  isStopped = () => false,
): Promise<RetentionReport & { readonly said: readonly string[] }> {
  await addUp(database);
  const said: string[] = [];
  const report = await runRetention({
    ...{ database, directory, nowMs, retentionDays },
    rest: async () => undefined,
    removal: { monotonic: () => performance.now(), stepMs: 15, pauseMs: 0, isStopped },
    log: (message) => said.push(message),
  });
  return { ...report, said };
}

/** All rows of requests, in the order of their numbers. */
export async function requestRows({ rows }: Database): Promise<readonly unknown[]> {
  return rows(sql`select * from requests order by number`);
}

/** Every balance and every sum of the series, which an archive must not change. */
export async function sums({ rows }: Database): Promise<unknown> {
  const tables = ['balances', 'movements', 'usage_days', 'usage_hours', 'usage_end_users'];
  const all = [...tables, 'usage_models', 'usage_accounts', 'usage_speeds', 'usage_mark'];
  const found: Record<string, unknown> = {};
  for (const table of all) {
    const read = await rows<Record<string, unknown>>(sql`select * from ${sql.identifier(table)}`);
    found[table] = read.map((row) => JSON.stringify(row, (_, value) => plain(value))).sort();
  }
  return found;
}

function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
