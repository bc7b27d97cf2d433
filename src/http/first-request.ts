// Runs the first request with an `Idempotency-Key` to its end, whether or not its client stays, and
// decides what repeats get: its answer, the books, or a new try.

import { ZERO } from '../core/money.ts';
import type { AnswerSummary } from '../core/request-summary.ts';
import type { KeyLookup } from '../idempotency/store.ts';
import type { ParsedBody } from '../wire/format.ts';
import { DetachedExchange } from './detached.ts';
import { type GenerationExchange, type HandlerDependencies, refuse } from './exchange.ts';
import { answerGeneration } from './handlers.ts';
import type { Idempotency } from './idempotency.ts';
import { isTriedAgain, runningElsewhere, verdictOf } from './keyed-books.ts';
import type { Asked } from './keyed-decision.ts';
import type { Recording } from './recording.ts';

type First = Asked & { readonly body: ParsedBody; readonly recording: Recording };

/**
 * Starts the first request of this process, whose recording has begun. Calls `onClaim` when it has
 * claimed its limits and its row: this process runs it now, and nothing else needs its body.
 */
export function runFirst(
  dependencies: HandlerDependencies,
  idempotency: Idempotency,
  from: GenerationExchange,
  { lookup, fingerprint, recording, ...read }: First,
  onClaim: () => void,
): void {
  const { store } = idempotency;
  const { requestId } = from;
  let isOwn: boolean | undefined;
  const beforeHold = async (): Promise<void> => {
    isOwn ??= await store.claim(lookup, fingerprint, requestId);
    if (!isOwn) throw runningElsewhere();
    onClaim();
  };
  const exchange = new DetachedExchange(dependencies, from, read, beforeHold);

  const work = async (): Promise<void> => {
    // The client of a request that another node runs gets the answer of that node.
    const response = await answerGeneration(dependencies, exchange, async (...refused) =>
      isOwn === false ? Response.error() : refuse(...refused),
    );
    if (isOwn === false) {
      recording.begin({ kind: 'beaten' });
      return;
    }
    await recording.record(requestId, response, () => isFinal(exchange.tally.answer, lookup));
    if (isOwn === undefined) return;
    const { answer } = exchange.tally;
    await conclude(idempotency, { lookup, requestId, answer, packed: () => recording.packed() });
  };
  const fail = async (error: unknown): Promise<void> => {
    recording.begin({ kind: 'over', response: await refuse(dependencies, exchange, error) });
    recording.cut();
  };
  idempotency.track(lookup, recording, work().catch(fail));
}

type Ended = {
  readonly lookup: KeyLookup;
  readonly requestId: string;
  /** Undefined if the hold was refused, or if its end could not be booked and may be later. */
  readonly answer: AnswerSummary | undefined;
  readonly packed: () => Uint8Array | undefined;
};

/** Keeps the answer of a request that must not run again, and removes the row of any other. */
export async function conclude(
  { store, books }: Pick<Idempotency, 'store' | 'books'>,
  { lookup, requestId, answer, packed }: Ended,
): Promise<void> {
  const verdict = answer === undefined ? await verdictOf(books, requestId, lookup) : undefined;
  // The next repeat asks the books again.
  if (verdict === 'open') return;
  if (isFinal(answer, lookup)) await store.keep(lookup, requestId, packed());
  else if (verdict === 'charged') await store.keep(lookup, requestId, undefined);
  else await store.release(lookup, requestId);
}

/**
 * Whether a repeat must not run again: the request was charged, or had a free model's answer.
 * Undefined if that is not booked.
 */
function isFinal(answer: AnswerSummary | undefined, lookup: KeyLookup): boolean | undefined {
  if (answer === undefined) return undefined;
  if (isTriedAgain(answer.outcome, lookup)) return false;
  const { outcome, debited, loss } = answer;
  return outcome === 'completed' || outcome === 'stopped_balance' || debited > ZERO || loss > ZERO;
}
