// What this process knows of requests with an `Idempotency-Key`: those that it runs, how many each
// account has open, and the answers that repeats read.

import { withTimeout } from '../async/timeout.ts';
import { CONCURRENCY_RETRY_SECONDS } from '../core/admit.ts';
import { takeOff } from '../core/counts.ts';
import { GatewayError } from '../core/error.ts';
import { type Plan, replayedBytes } from '../core/plan.ts';
import { createMinuteBudgets, requireBudget } from '../generate/minute-budget.ts';
import type { IdempotencyStore } from '../idempotency/store.ts';
import { Transcript, unpackedBytes } from '../idempotency/transcript.ts';
import type { Books } from '../ledger/books.ts';
import { type Recorded, unpackAnswer } from './recording.ts';

/** Memory of the answers that this process records at a time; above it, no first request begins. */
const MEMORY_BYTES_MAX = 268_435_456;

/** How long shutdown, and the end of an answer, wait until answers are stored. */
const STORE_MS = 2_000;

/** Open requests with a key per concurrent request of the plan: the first one and a repeat. */
const PLACES = 2;

export type Idempotency = ReturnType<typeof createIdempotency>;

type Options = {
  readonly store: IdempotencyStore;
  readonly books: Pick<Books, 'explain'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
};

type Running = { readonly transcript: Transcript; readonly stored: PromiseWithResolvers<void> };

export function createIdempotency({ store, books, clock, monotonic }: Options) {
  const replays = createMinuteBudgets(monotonic);
  /** First requests, from their claim until their answer is stored. */
  const running = new Map<string, Running>();
  /** Open requests with a key by account. */
  const places = new Map<string, number>();
  /** Answers that were found and are being read, by request id, and how many read them. */
  const open = new Map<string, { readonly recorded: Recorded; readers: number }>();
  let memoryBytes = 0;

  return {
    store,
    books,
    clock,
    isRunning: (requestId: string): boolean => running.has(requestId),
    /** Throws if the account has too many open. Returns the function that gives the place back. */
    enter(accountId: string, { concurrentRequests }: Plan): () => void {
      const taken = places.get(accountId) ?? 0;
      if (taken >= PLACES * concurrentRequests) throw tooMany();
      places.set(accountId, taken + 1);
      return () => takeOff(places, accountId);
    },
    /** Throws if the account has got as much of earlier answers as it may in a minute. */
    claimReplay(accountId: string, plan: Plan, { packed }: Recorded): void {
      const wait = replays.claim(accountId, replayedBytes(plan), unpackedBytes(packed));
      requireBudget(wait, tooMuchReplayed);
    },
    /**
     * The stored answer of a request, in memory once however many read it. Returns it with the
     * function that ends the reading.
     */
    read(requestId: string, answer: Uint8Array): { recorded: Recorded; close: () => void } {
      const shared = open.get(requestId) ?? { recorded: unpackAnswer(answer), readers: 0 };
      shared.readers += 1;
      open.set(requestId, shared);
      return {
        recorded: shared.recorded,
        close(): void {
          shared.readers -= 1;
          if (shared.readers === 0) open.delete(requestId);
        },
      };
    },
    /** Begins to record a first request; in the end call `end`. Throws if memory is short. */
    begin(requestId: string): Transcript {
      if (memoryBytes > MEMORY_BYTES_MAX) throw crowded();
      const transcript = new Transcript((bytes) => {
        memoryBytes += bytes;
      });
      running.set(requestId, { transcript, stored: Promise.withResolvers() });
      return transcript;
    },
    end(requestId: string): void {
      const ended = running.get(requestId);
      running.delete(requestId);
      memoryBytes -= ended?.transcript.size() ?? 0;
      ended?.stored.resolve();
    },
    /** Resolves when the request has ended, or after a time limit. */
    untilStored: (requestId: string): Promise<void> =>
      withTimeout(STORE_MS, running.get(requestId)?.stored.promise ?? Promise.resolve()),
    /** Resolves when the last answers are stored, or after a time limit. */
    async close(): Promise<void> {
      const stored = [...running.values()].map((each) => each.stored.promise);
      await withTimeout(STORE_MS, Promise.all(stored));
    },
  };
}

function tooMany(): GatewayError {
  return new GatewayError('concurrency_limit_exceeded', {
    message:
      'Too many requests with an Idempotency-Key of this account are open. Retry when one of them has ended.',
    retryAfterSeconds: CONCURRENCY_RETRY_SECONDS,
  });
}

function tooMuchReplayed(seconds: number): string {
  return `This account has got too many bytes of earlier answers again in a minute. Nothing was charged for this repeat. Retry with the same key after ${seconds} seconds.`;
}

function crowded(): GatewayError {
  return new GatewayError('provider_unavailable', {
    message:
      'The server records as many answers for an Idempotency-Key as it has memory for. Nothing was charged. Retry with back-off.',
  });
}
