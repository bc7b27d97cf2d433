// Mutants of requests with an `Idempotency-Key`: a second charge, an answer for another caller, a
// key that blocks, and memory without a bound.

import type { Mutant } from '../mutant.ts';

const UNIT = ['test/http/keyed-books.test.ts'];

export const REPEAT_MUTANTS: readonly Mutant[] = [
  {
    id: 'T-170',
    does: 'a request that was charged and failed runs again at its repeat',
    edits: [{ in: 'isFinal', find: '|| debited > ZERO', put: '|| debited < ZERO' }],
    tests: UNIT,
  },
  {
    id: 'T-171',
    does: 'a request whose hold is still open counts as free',
    edits: [
      {
        in: 'conclude',
        find: "else if (verdict === 'free')",
        put: 'else',
      },
    ],
    tests: UNIT,
  },
  {
    id: 'T-172',
    does: 'a charge in the books whose answer is missing counts as free',
    edits: [
      {
        in: 'verdictOf',
        find: 'return debited > ZERO &&',
        put: 'return debited < ZERO &&',
      },
    ],
    tests: UNIT,
  },
  {
    id: 'T-173',
    does: 'the claim of a live node is removed before its hold can be written',
    edits: [
      {
        in: 'requireFree',
        find: '(isElsewhere && clock() - endedAt < GRACE_MS)',
        put: '(isElsewhere && endedAt - clock() > GRACE_MS)',
      },
    ],
    tests: UNIT,
  },
  {
    id: 'T-174',
    does: 'a row that a live node left behind blocks its key',
    edits: [
      {
        in: 'requireFree',
        find: '(isElsewhere && clock() - endedAt < GRACE_MS)',
        put: '(isElsewhere && clock() - endedAt < 100 * GRACE_MS)',
      },
    ],
    tests: UNIT,
  },
  {
    id: 'T-175',
    does: 'the claim is not written before the hold',
    edits: [
      {
        in: 'tryGrant',
        find: 'if (asked.call.keyed !== undefined) await claimKey(asked.call.keyed, claim);',
        put: 'if (asked.call.keyed !== undefined) claimKey(asked.call.keyed, claim).catch(() => {});',
      },
    ],
    tests: ['test/blackbox/idempotency-nodes.test.ts'],
    only: 'same time',
  },
  {
    id: 'T-176',
    does: 'an API key finds the answers of other keys of its account',
    edits: [
      {
        in: 'lookup',
        find: 'digestOf(lookupKey, [accountId, keyId, idempotencyKey])',
        put: 'digestOf(lookupKey, [accountId, keyId.slice(0, 0), idempotencyKey])',
      },
    ],
    tests: ['test/idempotency/store.test.ts'],
  },
  {
    id: 'T-177',
    does: 'a repeat with another body gets the first answer',
    edits: [
      {
        in: 'requireSame',
        find: '!timingSafeEqual(first, fingerprint)',
        put: '!timingSafeEqual(first, first) || first.length !== fingerprint.length',
      },
    ],
    tests: ['test/blackbox/idempotency.test.ts'],
    only: 'another body',
  },
  {
    id: 'T-178',
    does: 'a row that was moved to another request opens',
    edits: [
      {
        in: 'contextOf',
        find: 'Buffer.concat([digest, requestIdBytes(requestId), Buffer.from(accountId)])',
        put: 'Buffer.from(`${digest.length}${requestId.length}${accountId.length}`)',
      },
    ],
    tests: ['test/idempotency/store.test.ts'],
  },
  {
    id: 'T-179',
    does: 'a repeat uses no request of the minute',
    edits: [
      {
        in: 'check',
        find: 'await entry.leaveCounted();',
        put: 'entry.leave();',
      },
    ],
    tests: ['test/blackbox/idempotency-attacks.test.ts'],
    only: 'of the minute',
  },
  {
    id: 'T-180',
    does: 'a repeat that its client does not read gives its place back',
    edits: [
      {
        in: 'record',
        find: 'if (!this.#isReading) this.#end();',
        put: 'this.#end();',
      },
    ],
    tests: ['test/blackbox/idempotency-memory.test.ts'],
    only: 'keep their places',
  },
  {
    id: 'T-181',
    does: 'a first request ends when its client leaves',
    edits: [
      {
        in: 'gone',
        find: 'return this.#isFull;',
        put: 'return this.#isFull || this.#client.gone();',
      },
    ],
    tests: ['test/http/recording.test.ts'],
  },
  {
    id: 'T-182',
    does: 'an answer ends for its client before it is stored',
    edits: [
      {
        in: 'close',
        find: "this.#options.onComplete().finally(() => this.#client.close(''));",
        put: "this.#options.onComplete(); this.#client.close('');",
      },
    ],
    tests: ['test/http/recording.test.ts'],
  },
  {
    id: 'T-183',
    does: 'rows are removed before answers, so that a repeat is charged again',
    edits: [
      {
        in: 'make',
        find: 'await shrinkBytes(accountBytes, accountId);',
        put: 'await shrinkRows(Math.min(0, accountBytes), accountId);',
      },
    ],
    tests: ['test/idempotency/store.test.ts'],
  },
  {
    id: 'T-184',
    does: 'a repeat runs beside the first request of its own process',
    edits: [
      {
        in: 'requireFree',
        find: 'if (isRunning(requestId)) throw stillRunning();',
        put: "if (isRunning('')) throw stillRunning();",
      },
    ],
    tests: UNIT,
  },
  {
    id: 'T-185',
    does: 'a row that has ended by now is judged as if its answer were lost',
    edits: [
      {
        in: 'requireFree',
        find: "if (row?.requestId !== requestId || row.state !== 'running') throw stillRunning();",
        put: 'if (row === undefined) throw stillRunning();',
      },
    ],
    tests: UNIT,
  },
];
