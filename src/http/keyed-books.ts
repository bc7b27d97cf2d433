// What became of a first request with an `Idempotency-Key` that this process does not run: waits for
// its end on another node, and asks the books where its answer is missing.

import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../core/error.ts';
import type { Outcome } from '../core/generation.ts';
import { formatTokens, ZERO } from '../core/money.ts';
import type { KeptRequest, KeyLookup } from '../idempotency/store.ts';
import type { Books } from '../ledger/books.ts';
import type { Idempotency } from './idempotency.ts';

/** How often a repeat looks whether the first request has ended: soon, and then ever less often. */
const LOOK_MS = { first: 100, last: 2_000 };

/** The part of the time waited so far that is added to the next pause. */
const LOOK_SHARE = 0.1;

/** How long it does so. A client that still wants the answer retries then. */
const WAIT_MS = 300_000;

/**
 * How long a live node may need to write its hold after its claim, or its answer after the end of
 * its hold. Longer than its ledger waits for a disk.
 */
const GRACE_MS = 30_000;

const RUNNING_RETRY_SECONDS = 2;

type KnownBooks = Pick<Books, 'explain'>;

/**
 * open      it holds money: it runs, or recovery will end it
 * charged   a repeat must not run
 * free      nothing was charged, or it failed and is tried again
 */
type Verdict = 'open' | 'charged' | 'free';

/** What the books say of a request that has claimed its key. */
export async function verdictOf(
  books: KnownBooks,
  requestId: string,
  lookup: KeyLookup,
): Promise<Verdict> {
  const history = await books.explain(requestId);
  if (history === undefined) return 'free';
  if (history.record === undefined) return 'open';
  const { debited, outcome } = history.record;
  return debited > ZERO && !isTriedAgain(outcome, lookup) ? 'charged' : 'free';
}

/** Whether a repeat runs again although the first request was charged for what it delivered. */
export function isTriedAgain(outcome: Outcome, { isBody }: KeyLookup): boolean {
  return isBody && (outcome === 'upstream_failed' || outcome === 'gateway_failed');
}

type Waiting = {
  readonly lookup: KeyLookup;
  readonly found: KeptRequest;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Throws when this process has to stop waiting. */
  readonly requireServing: () => void;
  /** Resolves when no client waits any more. */
  readonly over: Promise<'over'>;
  readonly sleep?: (ms: number) => Promise<void>;
};

/**
 * Waits while another node runs the first request, or its hold waits for recovery. A row whose
 * request is tried again is removed. Throws if there is a charge and no answer.
 */
export async function untilEnded(
  { store, books }: Idempotency,
  { lookup, found, monotonic, requireServing, over, sleep = Bun.sleep }: Waiting,
): Promise<'ended' | 'over'> {
  const { requestId } = found;
  const startedAt = monotonic();
  let endedAt: number | undefined;
  for (let waited = 0; waited < WAIT_MS; waited = monotonic() - startedAt) {
    requireServing();
    // In this order: a node that dies after it has stored the answer is not taken for a lost one.
    const isElsewhere = await store.isElsewhere(found);
    const row = await store.find(lookup);
    if (row?.requestId !== requestId || row.state !== 'running') return 'ended';
    const verdict = await verdictOf(books, requestId, lookup);
    endedAt = verdict === 'open' ? undefined : (endedAt ?? monotonic());
    if (endedAt !== undefined && (!isElsewhere || monotonic() - endedAt >= GRACE_MS)) {
      if (verdict === 'charged') {
        // A row that runs never expires, and a name that is made from the body cannot be changed.
        await store.keep(lookup, requestId, undefined);
        throw await lostAnswer(books, requestId);
      }
      await store.remove(found);
      return 'ended';
    }
    const pauseMs = Math.min(LOOK_MS.last, LOOK_MS.first + waited * LOOK_SHARE);
    if ((await Promise.race([sleep(pauseMs), over])) === 'over') return 'over';
  }
  throw runningElsewhere();
}

/** Names the charge that has no answer, so that it is not charged again silently. */
export async function lostAnswer(books: KnownBooks, requestId: string): Promise<GatewayError> {
  const history = await books.explain(requestId);
  const { record, receipt } = history ?? {};
  const charge =
    record === undefined || receipt === undefined
      ? ''
      : ` It was charged ${formatTokens(record.debited)} service tokens, on receipt ${receipt.sequence} of this account.`;
  return new GatewayError('idempotent_answer_lost', {
    message: `The answer of ${requestId}, the first request with this Idempotency-Key, is no longer kept.${charge} Nothing was charged for this repeat. Use a new key to ask again.`,
  });
}

export function runningElsewhere(): GatewayError {
  return new GatewayError('idempotent_request_running', {
    retryAfterSeconds: RUNNING_RETRY_SECONDS,
  });
}

/** Throws if the key was used for another body. */
export function requireSame(first: Uint8Array, fingerprint: Uint8Array): void {
  if (!timingSafeEqual(first, fingerprint)) throw new GatewayError('idempotency_key_reused');
}
