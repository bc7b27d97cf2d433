// What became of a first request with an `Idempotency-Key`, by its own end or by the books: whether
// its answer is kept, and whether a repeat runs again.

import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../core/error.ts';
import type { Outcome } from '../core/generation.ts';
import { formatTokens, ZERO } from '../core/money.ts';
import type { AnswerSummary } from '../core/request-summary.ts';
import type { KeptRequest, KeyLookup } from '../idempotency/store.ts';
import type { Books } from '../ledger/books.ts';
import type { RequestHistory } from '../ledger/explain.ts';
import type { Idempotency } from './idempotency.ts';

/**
 * How long a live node may need to write its hold after its claim, or its answer after the end of
 * its hold. Longer than its ledger waits for a disk, with room for clocks that differ.
 */
const GRACE_MS = 60_000;

/** Client libraries retry twice by default, and few answers take longer than both pauses. */
const RUNNING_RETRY_SECONDS = 5;

type KnownBooks = Pick<Books, 'explain'>;

/**
 * open      it holds money: it runs, or recovery will end it
 * charged   a repeat must not run
 * free      nothing was charged, or it failed and is tried again
 */
type Verdict = 'open' | 'charged' | 'free';

/** What the books say of a request that has claimed its key. */
function verdictOf(history: RequestHistory | undefined, lookup: KeyLookup): Verdict {
  if (history === undefined) return 'free';
  if (history.record === undefined) return 'open';
  const { debited, outcome } = history.record;
  return debited > ZERO && !isTriedAgain(outcome, lookup) ? 'charged' : 'free';
}

/** Whether a repeat runs again although the first request was charged for what it delivered. */
function isTriedAgain(outcome: Outcome, { isBody }: KeyLookup): boolean {
  return isBody && (outcome === 'upstream_failed' || outcome === 'gateway_failed');
}

type Ended = {
  readonly lookup: KeyLookup;
  readonly requestId: string;
  /** Undefined if the hold was refused, or if its end could not be booked and may be later. */
  readonly summary: AnswerSummary | undefined;
  /** Undefined if it is incomplete. */
  readonly answer: () => Uint8Array | undefined;
};

/** Keeps the answer of a request that must not run again, and removes the row of any other. */
export async function conclude(
  { store, books }: Pick<Idempotency, 'store' | 'books'>,
  { lookup, requestId, summary, answer }: Ended,
): Promise<void> {
  if (summary !== undefined) {
    if (isFinal(summary, lookup)) await store.keep(lookup, requestId, answer());
    else await store.release(lookup, requestId);
    return;
  }
  const verdict = verdictOf(await books.explain(requestId), lookup);
  if (verdict === 'charged') await store.keep(lookup, requestId, undefined);
  else if (verdict === 'free') await store.release(lookup, requestId);
  // Where the hold is open, the next repeat asks the books again.
}

/** Whether a repeat must not run again: the request was charged, or had a free model's answer. */
function isFinal({ outcome, debited, loss }: AnswerSummary, lookup: KeyLookup): boolean {
  if (isTriedAgain(outcome, lookup)) return false;
  return outcome === 'completed' || outcome === 'stopped_balance' || debited > ZERO || loss > ZERO;
}

/**
 * Removes a row that says `running` if its request has ended without a charge. Throws if the request
 * runs (409), and if it was charged and its answer is missing (410).
 */
export async function requireFree(
  { store, books, isRunning, clock }: Idempotency,
  lookup: KeyLookup,
  found: KeptRequest,
): Promise<void> {
  const { requestId, createdAt } = found;
  if (isRunning(requestId)) throw stillRunning();
  // In this order: a node that dies after it has stored the answer is not taken for a lost one.
  const isElsewhere = await store.isElsewhere(found);
  const row = await store.find(lookup);
  if (row?.requestId !== requestId || row.state !== 'running') throw stillRunning();
  const history = await books.explain(requestId);
  const verdict = verdictOf(history, lookup);
  const endedAt = history?.hold.endedAt ?? createdAt;
  if (verdict === 'open' || (isElsewhere && clock() - endedAt < GRACE_MS)) throw stillRunning();
  if (verdict === 'free') {
    await store.remove(found);
    return;
  }
  // A row that runs never expires, and a name that is made from the body cannot be changed.
  await store.keep(lookup, requestId, undefined);
  throw await lostAnswer(books, requestId);
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

export function stillRunning(): GatewayError {
  return new GatewayError('idempotent_request_running', {
    retryAfterSeconds: RUNNING_RETRY_SECONDS,
  });
}

/** Throws if the key was used for another body. */
export function requireSame(first: Uint8Array, fingerprint: Uint8Array): void {
  if (!timingSafeEqual(first, fingerprint)) throw new GatewayError('idempotency_key_reused');
}
