// The audits of a server: each reads new rows and a share of the others, so damage in old rows is
// found within one round of turns, and damage that was found stays found.

import { expect, test } from 'bun:test';
import { EVERYTHING, type NumberRange, nextPass, rangesOf } from '../../src/ledger/audit/pass.ts';
import { type Difference, findDifferences } from '../../src/ledger/audit.ts';
import { writeNote } from '../../src/store/server-notes.ts';
import {
  describeOnEachDatabase,
  dropGuards,
  tamper,
  temporaryDirectory,
} from '../support/database.ts';
import {
  closeBooks,
  fundAccount,
  holdOf,
  NOW,
  type OpenBooks,
  openBooks,
  settleOf,
} from '../support/ledger.ts';

const directory = temporaryDirectory();

const TURNS = 4;

/** Books in which ada has ended requests `r1` to `r40`, and bob has none. */
async function longBooks(): Promise<OpenBooks> {
  const open = await openBooks(directory);
  for (const id of ['ada', 'bob']) await fundAccount(open, id, 10_000n);
  for (let n = 1; n <= 40; n += 1) await serve(open, `r${n}`);
  await dropGuards(open.database);
  return open;
}

async function serve({ ledger }: OpenBooks, id: string): Promise<void> {
  await ledger.hold(holdOf(id, 'ada', 30n));
  await ledger.settle(settleOf(id, 15n));
}

const lineOf = ({ kind, subject }: Difference): string => `${kind} ${subject}`;

/** One audit of a server. */
async function auditOnce({ database }: OpenBooks, requestsMin = 1): Promise<string[]> {
  const { pass, end } = await nextPass(database, { turns: TURNS, requestsMin });
  const found = await Array.fromAsync(findDifferences(database, { pass }));
  await end(database, [...new Set(found.map(({ accountId }) => accountId))], NOW);
  return found.map(lineOf);
}

async function auditsUntilFound(open: OpenBooks): Promise<{ audits: number; found: string[] }> {
  for (let audits = 1; audits <= TURNS; audits += 1) {
    const found = await auditOnce(open);
    if (found.length > 0) return { audits, found };
  }
  return { audits: TURNS, found: [] };
}

const change = (id: string): string =>
  `UPDATE requests SET output_tokens = output_tokens + 1 WHERE id = {${id}}`;

describeOnEachDatabase('the audits of a server', () => {
  test('read new rows at once, and every old row within one round', async () => {
    const open = await longBooks();
    expect(await auditOnce(open)).toEqual([]);
    await tamper(open.database, change('r2'));
    await serve(open, 'new');
    await tamper(open.database, change('new'));
    const found = await auditOnce(open);
    expect(found).toContain('receipt new');
    expect(found).not.toContain('receipt r2');
    await closeBooks(open);
  });

  test.each(['r1', 'r11', 'r25', 'r40'])('find damage in the old row %s', async (id) => {
    const open = await longBooks();
    await auditOnce(open);
    await tamper(open.database, change(id));
    const { found } = await auditsUntilFound(open);
    expect(found).toContain(`receipt ${id}`);
    await closeBooks(open);
  });

  test('find damage again until it is repaired, and then go on with their turns', async () => {
    const open = await longBooks();
    await tamper(open.database, change('r40'));
    // The first turn is the last part.
    expect(await auditOnce(open)).toContain('receipt r40');
    for (let audits = 0; audits < TURNS; audits += 1) {
      expect(await auditOnce(open)).toContain('receipt r40');
    }
    await tamper(open.database, change('r40').replace('+', '-'));
    expect(await auditOnce(open)).toEqual([]);
    await tamper(open.database, change('r1'));
    expect((await auditsUntilFound(open)).found).toContain('receipt r1');
    await closeBooks(open);
  });

  test('compare every balance with its last receipt each time', async () => {
    const open = await longBooks();
    await auditOnce(open);
    for (const id of ['ada', 'bob']) {
      await tamper(
        open.database,
        `UPDATE balances SET posted = posted + 7 WHERE account_id = '${id}'`,
      );
    }
    const wrong = ['chain ada', 'posted ada', 'chain bob', 'posted bob'];
    expect(await auditOnce(open)).toEqual(wrong);
    await closeBooks(open);
  });

  test('sum from the last receipt that was read', async () => {
    const open = await longBooks();
    await auditOnce(open);
    await auditOnce(open);
    const last = 'posted = posted + 7 WHERE account = (SELECT number FROM balances';
    await tamper(
      open.database,
      `UPDATE requests SET ${last} WHERE account_id = 'ada') AND id = {r40}`,
    );
    await serve(open, 'new');
    expect(await auditOnce(open)).toContain('chain ada');
    await closeBooks(open);
  });

  test('find a row of no account, and keep finding it', async () => {
    const open = await longBooks();
    await tamper(open.database, 'UPDATE requests SET account = 99 WHERE id = {r40}');
    for (let audits = 0; audits < TURNS; audits += 1) {
      expect(await auditOnce(open)).toContain('record r40');
    }
    await closeBooks(open);
  });

  test('read small books as a whole, and begin again at a note that they cannot read', async () => {
    const open = await longBooks();
    await auditOnce(open);
    await writeNote(open.database, 'audit_mark', '{"requests":"all"}', NOW);
    expect(await auditOnce(open)).toEqual([]);
    await tamper(open.database, change('r1'));
    expect(await auditOnce(open, 1_000)).toContain('receipt r1');
    await closeBooks(open);
  });
});

const numbersIn = (ranges: readonly NumberRange[]): number[] =>
  ranges.flatMap(({ after, to }) => Array.from({ length: to - after }, (_, n) => after + n + 1));

test('the turns of a table that grows at its end and shrinks at its start leave no row out', () => {
  const read = new Set<number>();
  let [after, mark] = [0, 1_003];
  for (let turn = TURNS - 1; turn >= 0; turn -= 1) {
    const to = mark + 17;
    const pass = { ...EVERYTHING, turn, turns: TURNS };
    for (const number of numbersIn(rangesOf(pass, { after, to }, mark))) read.add(number);
    mark = to;
    after += 13;
  }
  const wanted = Array.from({ length: mark - after }, (_, n) => after + n + 1);
  expect(wanted.filter((number) => !read.has(number))).toEqual([]);
});

test('a pass reads no row twice, and of the old ones its share only', () => {
  const pass = { ...EVERYTHING, turn: 1, turns: TURNS };
  const numbers = numbersIn(rangesOf(pass, { after: 100, to: 520 }, 500));
  expect([numbers.length, new Set(numbers).size]).toEqual([120, 120]);
});
