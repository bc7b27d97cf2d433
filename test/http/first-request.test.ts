// What becomes of the row of a first request when it has ended, by its summary and by the books.

import { afterAll, expect, test } from 'bun:test';
import { createRequestId } from '../../src/core/id.ts';
import { type Micro, ZERO } from '../../src/core/money.ts';
import type { AnswerSummary } from '../../src/core/request-summary.ts';
import { conclude } from '../../src/http/first-request.ts';
import type { Idempotency } from '../../src/http/idempotency.ts';
import { createIdempotencyStore } from '../../src/idempotency/store.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';

const database = await newDatabase(temporaryDirectory());
afterAll(() => database.close());

const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

const store = createIdempotencyStore({
  ...{ database, clock: Date.now, randomBytes, secret: 's'.repeat(32) },
  incarnation: () => 'boot_own',
  onTrouble: (error) => {
    throw error;
  },
});

type Case = {
  /** Named by its body, and not by a key. */
  readonly isBody?: boolean;
  readonly answer?: Partial<AnswerSummary>;
  readonly history?: unknown;
};

/** The state of the row afterwards; undefined if it was removed. */
async function stateAfter({ isBody = false, answer, history }: Case): Promise<string | undefined> {
  const requestId = createRequestId(Date.now(), randomBytes);
  const asker = { accountId: 'acct_a', keyId: 'key_a' };
  const fingerprint = store.fingerprint('chat', requestId);
  const lookup = isBody ? store.lookupBody(asker, fingerprint) : store.lookup(asker, requestId);
  await store.claim(lookup, fingerprint, requestId);
  const books = { explain: async () => history } as unknown as Idempotency['books'];
  await conclude(
    { store, books },
    {
      ...{ lookup, requestId, answer: answer as AnswerSummary | undefined },
      packed: () => Buffer.from('answer'),
    },
  );
  return (await store.find(lookup))?.state;
}

const ONE = 1n as Micro;

const recorded = (debited: bigint) => ({ record: { debited }, receipt: { sequence: 1 } });

test('an answer is kept if it was charged, or complete without a price', async () => {
  const failed = { outcome: 'upstream_failed', debited: ZERO, loss: ZERO } as const;
  expect(await stateAfter({ answer: { ...failed, debited: ONE } })).toBe('kept');
  expect(await stateAfter({ answer: { ...failed, loss: ONE } })).toBe('kept');
  expect(await stateAfter({ answer: { ...failed, outcome: 'completed' } })).toBe('kept');
  expect(await stateAfter({ answer: { ...failed, outcome: 'stopped_balance' } })).toBe('kept');
  expect(await stateAfter({ answer: failed })).toBeUndefined();
});

test('without a summary the books decide, and a charge is never forgotten', async () => {
  expect(await stateAfter({ history: undefined })).toBeUndefined();
  expect(await stateAfter({ history: recorded(0n) })).toBeUndefined();
  expect(await stateAfter({ history: recorded(1n) })).toBe('lost');
  // Its hold is open: recovery may charge it.
  expect(await stateAfter({ history: { record: undefined } })).toBe('running');
});

test('a failed request that is named by its body is tried again, although it was charged', async () => {
  const charged = { debited: ONE, loss: ZERO } as const;
  const history = (outcome: string) => ({ record: { outcome, debited: 1n }, receipt: {} });
  for (const outcome of ['upstream_failed', 'gateway_failed'] as const) {
    expect(await stateAfter({ isBody: true, answer: { ...charged, outcome } })).toBeUndefined();
    expect(await stateAfter({ isBody: true, history: history(outcome) })).toBeUndefined();
    expect(await stateAfter({ history: history(outcome) })).toBe('lost');
  }
  for (const outcome of ['completed', 'stopped_balance', 'client_cancelled'] as const) {
    expect(await stateAfter({ isBody: true, answer: { ...charged, outcome } })).toBe('kept');
    expect(await stateAfter({ isBody: true, history: history(outcome) })).toBe('lost');
  }
});
