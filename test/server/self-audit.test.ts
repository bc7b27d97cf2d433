// The audit of a server against the requests in progress: a single finding may be a request that
// started or ended during the poll, so it stops no account; a repeated one does.

import { expect, spyOn, test } from 'bun:test';
import { join } from 'node:path';
import type { Alert } from '../../src/core/alert.ts';
import { wordsOf } from '../../src/core/sentence.ts';
import type { LiveRequests } from '../../src/ledger/audit.ts';
import { createSelfAudit } from '../../src/server/self-audit.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';
import { booksOver, closeBooks, fundAccount, holdOf, NOW, releaseOf } from '../support/ledger.ts';
import { waitUntil } from '../support/upstream.ts';

const directory = temporaryDirectory();

const ORPHAN =
  'audit: orphan of r1: its hold is open, and the request is no longer running; account ada gets no new answers';
const UNHELD =
  'audit: unheld of r2: it is running, and nothing is held for it; account bob gets no new answers';

/** What a server says in look after look; the last one for ever. */
function liveInTurn(...looks: readonly (readonly string[])[]) {
  let count = 0;
  const live = (): LiveRequests => {
    const requests = looks[Math.min(count, looks.length - 1)] ?? [];
    count += 1;
    const claims = [{ requestId: 'r2', accountId: 'bob', startedAt: NOW }];
    return {
      requests,
      claims: claims.filter(({ requestId }) => requests.includes(requestId)),
      createdBefore: NOW + 1,
    };
  };
  return { live, count: () => count };
}

/** Books in which ada has an open hold, for `r1`, and bob has none. */
async function audited(...looks: readonly (readonly string[])[]) {
  const name = crypto.randomUUID();
  const open = booksOver(await newDatabase(directory, name));
  for (const id of ['ada', 'bob']) await fundAccount(open, id, 100n);
  await open.ledger.hold(holdOf('r1', 'ada', 30n));
  const lines: string[] = [];
  const alerts: Alert[] = [];
  const { live, count } = liveInTurn(...looks);
  const selfAudit = createSelfAudit({
    url: `sqlite:${join(directory, `${name}.db`)}`,
    everyMs: 20,
    clock: Date.now,
    live,
    log: {
      info: (message) => void lines.push(message),
      error: (message) => void lines.push(message),
    },
    alert: (alert) => void alerts.push(alert),
  });
  const end = selfAudit.begin();
  return {
    ...open,
    ...selfAudit,
    lines,
    alerts,
    looks: (least: number) => waitUntil(() => count() >= least),
    async [Symbol.asyncDispose]() {
      end();
      selfAudit.close();
      await closeBooks(open);
    },
  };
}

test('a request that had not started yet, and one that lost its hold, stop no account', async () => {
  await using audit = await audited([], ['r1', 'r2'], ['r1']);
  await audit.looks(5);
  expect([audit.lines, audit.warnings(), audit.alerts]).toEqual([[], [], []]);
});

test('what the next look finds again stops its account, until it is gone', async () => {
  await using audit = await audited(['r2']);
  await waitUntil(() => audit.isStopped('ada') && audit.isStopped('bob'));
  expect(audit.lines.slice(0, 2)).toEqual([ORPHAN, UNHELD]);
  expect([audit.alerts[0], audit.differences()]).toEqual([
    { kind: 'audit_difference', count: 2 },
    2,
  ]);
  expect(audit.warnings().map(wordsOf)).toEqual([
    'the audit found 1 × orphan',
    'the audit found 1 × unheld',
  ]);
  await audit.ledger.release(releaseOf('r1'));
  await waitUntil(() => !audit.isStopped('ada'));
  expect(audit.isStopped('bob')).toBe(true);
  expect(audit.lines).toContain('audit: ada is clean again and served');
});

test('a stopped account is looked at again long before the next whole audit', async () => {
  const timers: (() => void)[] = [];
  const keep = ((run: () => void) => {
    timers.push(run);
    return { unref: () => undefined };
  }) as unknown as typeof setTimeout & typeof setInterval;
  const spies = [
    spyOn(globalThis, 'setTimeout').mockImplementation(keep),
    spyOn(globalThis, 'setInterval').mockImplementation(keep as typeof setInterval),
  ];
  const audit = await audited(['r1']).finally(() => {
    for (const spy of spies) spy.mockRestore();
  });
  await using _ = audit;
  // The audit begins last; the books have timers of their own.
  const [whole, , recheck] = timers.slice(-3);
  const setPosted = (amount: bigint) =>
    audit.database.connection.run("UPDATE balances SET posted = ? WHERE account_id = 'bob'", [
      amount,
    ]);
  setPosted(101n);
  whole?.();
  await waitUntil(() => audit.isStopped('bob'));
  expect(audit.isStopped('ada')).toBe(false);
  setPosted(100n);
  recheck?.();
  await waitUntil(() => !audit.isStopped('bob'));
  expect(audit.lines.at(-1)).toBe('audit: bob is clean again and served');
});
