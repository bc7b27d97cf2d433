// The newest models of every vendor, each behind a strict stand-in: every case is served in every client
// format. README.md says how to read the table.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createAccounts } from '../support/accounts.ts';
import { type Caller, EVERY_FORMAT, type EveryFormat } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { ANSWERS } from './cases/answers.ts';
import type { Case, Cell } from './cases/case.ts';
import { CONVERSATIONS } from './cases/conversations.ts';
import { ENDINGS } from './cases/endings.ts';
import { FAULT_CASES } from './cases/faults.ts';
import { TOOLS } from './cases/tools.ts';
import { catalogOfRows, PLAN } from './catalog.ts';
import { fits, isKnown, KNOWN } from './known.ts';
import { ROWS, type Row } from './rows.ts';
import { SITES } from './sites.ts';
import { type StandIns, startStandIns } from './stand-ins/server.ts';
import { describe as inWords, type Result, tableOf } from './table.ts';

setDefaultTimeout(180_000);

const CASES: readonly Case[] = [...ANSWERS, ...TOOLS, ...ENDINGS, ...CONVERSATIONS, ...FAULT_CASES];
const AT_A_TIME = 16;
const CREDIT = 1_000_000_000;
/** Prints the table, of the rows whose id has this text; `all` for every row. */
const SHOWN = process.env['TOLLGATE_TEST_VENDORS'];
const RUN = ROWS.filter(({ id }) => SHOWN === undefined || SHOWN === 'all' || id.includes(SHOWN));

let standIns: StandIns;
let gateway: Gateway;
let results: readonly Result[] = [];

type Planned = { readonly row: Row; readonly format: EveryFormat; readonly of: Case };

const PLANNED: readonly Planned[] = RUN.flatMap((row) =>
  CASES.filter(({ applies }) => applies?.(row) !== false).flatMap((of) =>
    (of.formats ?? EVERY_FORMAT).map((format) => ({ row, format, of })),
  ),
);

closeAtEnd(() => [standIns, gateway]);

beforeAll(async () => {
  standIns = startStandIns(SITES);
  gateway = await startGateway({
    catalog: catalogOfRows(ROWS, standIns.site),
    environment: { LOG_LEVEL: 'warn', LEDGER_SYNC: 'normal' },
  });
  const leaving = PLANNED.filter(({ of }) => of.name === 'leaving').length;
  const accounts = await createAccounts(gateway, leaving + 1, { plan: PLAN, credit: CREDIT });
  results = await runAll(accounts);
  const unexpected = results.some((each) => each.reason !== undefined && !isKnown(each));
  if (unexpected || SHOWN !== undefined) process.stdout.write(`\n${tableOf(results)}\n`);
});

/** Runs every cell, so many at a time. Those that leave have an account each. */
async function runAll([shared, ...own]: readonly Caller[]): Promise<readonly Result[]> {
  const done: Result[] = [];
  const waiting = PLANNED.map((planned, index) => ({ planned, index }));
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { planned, index } = next;
      const caller = planned.of.name === 'leaving' ? own.pop() : shared;
      if (caller === undefined) throw new Error('an account is missing');
      done[index] = await runCell(planned, index, caller);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return done;
}

async function runCell(
  { row, format, of }: Planned,
  index: number,
  caller: Caller,
): Promise<Result> {
  const mark = `cell-${index}.`;
  const { output } = gateway;
  const cell: Cell = { row, format, caller, mark, output, seen: () => standIns.seen(mark) };
  const result = { row: row.id, name: of.name, format };
  const refusals = () => cell.seen().flatMap(({ refusal }) => refusal ?? []);
  try {
    await of.run(cell);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...result, reason: [reason, ...refusals()].join(' | ') };
  }
  const [refusal] = of.mayRefuse === true ? [] : refusals();
  return refusal === undefined ? result : { ...result, reason: `served after: ${refusal}` };
}

describe('a strict stand-in of the vendor', () => {
  test.each(RUN.map(({ id }) => [id]))('serves every case of %s', (id) => {
    const failed = results.filter(({ row, reason }) => row === id && reason !== undefined);
    expect(failed.filter((each) => !isKnown(each)).map(inWords)).toEqual([]);
  });

  test.skipIf(RUN.length < ROWS.length)('still fails in a cell of every known entry', () => {
    const failed = results.filter(({ reason }) => reason !== undefined);
    const stale = KNOWN.filter((known) => !failed.some((each) => fits(known, each)));
    expect(stale).toEqual([]);
  });
});
