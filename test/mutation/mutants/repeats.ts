// Mutants of requests with an `Idempotency-Key`: a second charge, an answer for another caller, a
// key that blocks, and memory without a bound.

import type { Mutant } from '../mutant.ts';

const UNIT = ['test/http/first-request.test.ts', 'test/http/keyed-books.test.ts'];

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
        find: "if (verdict === 'open') return;",
        put: "if (verdict === 'open' && answer !== undefined) return;",
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
        in: 'untilEnded',
        find: '(!isElsewhere || monotonic() - endedAt >= GRACE_MS)',
        put: '(!isElsewhere || GRACE_MS >= monotonic() - endedAt)',
      },
    ],
    tests: UNIT,
  },
  {
    id: 'T-174',
    does: 'a row that a live node left behind blocks its key',
    edits: [
      {
        in: 'untilEnded',
        find: '(!isElsewhere || monotonic() - endedAt >= GRACE_MS)',
        put: '(!isElsewhere || monotonic() - endedAt >= 100 * GRACE_MS)',
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
        find: 'if (asked.call.beforeHold !== undefined) await beforeHold(asked.call.beforeHold, claim);',
        put: 'if (asked.call.beforeHold !== undefined) beforeHold(asked.call.beforeHold, claim).catch(() => {});',
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
        in: '#receive',
        find: 'else await entry.leaveCounted();',
        put: 'else entry.leavePlace();',
      },
    ],
    tests: ['test/blackbox/idempotency-attacks.test.ts'],
    only: 'of the minute',
  },
  {
    id: 'T-180',
    does: 'a repeat without a reader gives its place back',
    edits: [
      {
        in: '#respond',
        find: 'if (!isStream && transcript.isShort()) {',
        put: 'if (!isStream) {',
      },
    ],
    tests: ['test/blackbox/idempotency-memory.test.ts'],
    only: 'keep their places',
  },
  {
    id: 'T-181',
    does: 'an answer that is too large to keep is cut',
    edits: [
      {
        in: 'fill',
        find: 'this.end();',
        put: 'if (this.#size > this.#options.most) this.cut(); else this.end();',
      },
    ],
    tests: ['test/idempotency/transcript.test.ts'],
  },
  {
    id: 'T-182',
    does: 'what a reader got is overwritten by later bytes',
    edits: [
      {
        in: '#close',
        find: 'this.#tail = this.#tail.slice(length, this.#tailBytes);',
        put: 'this.#tail.copyWithin(0, length, this.#tailBytes);',
      },
    ],
    tests: ['test/idempotency/transcript.test.ts'],
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
    does: 'shutdown cuts off clients that read a stored answer',
    edits: [
      {
        in: 'createInFlight',
        find: 'requests.size === 0 && readers.size === 0',
        put: 'requests.size === 0 && readers.size >= 0',
      },
    ],
    tests: ['test/generate/in-flight.test.ts'],
  },
  {
    id: 'T-185',
    does: 'a repeat of a stream that runs elsewhere sends nothing until it is complete',
    edits: [
      {
        in: '#serveFound',
        find: '? await withTimeout(silentCommitMs, ended,',
        put: '? await withTimeout(silentCommitMs + 60_000, ended,',
      },
    ],
    tests: ['test/blackbox/idempotency-nodes.test.ts'],
    only: 'has headers and heartbeats',
  },
];
