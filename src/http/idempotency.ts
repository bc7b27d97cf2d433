// What this process knows of requests with an `Idempotency-Key`: the keys whose first request runs
// here, so that one runs at a time, and how many requests with a key each account has open.

import { withTimeout } from '../async/timeout.ts';
import { CONCURRENCY_RETRY_SECONDS } from '../core/admit.ts';
import { takeOff } from '../core/counts.ts';
import { GatewayError } from '../core/error.ts';
import { BODY_KEY } from '../core/idempotency-key.ts';
import { type Plan, replayedBytes } from '../core/plan.ts';
import { createMinuteBudgets, requireBudget } from '../generate/minute-budget.ts';
import type { IdempotencyStore, KeyLookup } from '../idempotency/store.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { Books } from '../ledger/books.ts';
import { type Recorded, Recording, unpackAnswer } from './recording.ts';

/** Memory of the answers that this process records at a time; above it, no first request begins. */
const MEMORY_BYTES_MAX = 268_435_456;

/** How long shutdown waits for the last answers to be stored. */
const STORE_MS = 2_000;

export type Idempotency = ReturnType<typeof createIdempotency>;

type Options = {
  readonly store: IdempotencyStore;
  readonly books: Pick<Books, 'explain'>;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
};

/** A repeat of an account with this plan. */
type Replayed = { readonly facts: KeyFacts; readonly plan: Plan };

export function createIdempotency({ store, books, monotonic }: Options) {
  const replays = createMinuteBudgets(monotonic);
  const running = new Map<string, Recording>();
  const storing = new Set<Promise<void>>();
  /** Open requests with a key by account. */
  const places = new Map<string, number>();
  /** Answers that were found and are being read, by request id, and how many read them. */
  const open = new Map<string, { readonly recorded: Recorded; readers: number }>();
  let memoryBytes = 0;

  return {
    ...{ store, books },
    /** The first request with a key, while it runs or is stored here. */
    runningOf: ({ id }: KeyLookup): Recording | undefined => running.get(id),
    /** Whether the key is new. One that is made from the body says nothing before that is read. */
    async isFirst(facts: KeyFacts, key: string): Promise<boolean> {
      if (key === BODY_KEY) return false;
      const lookup = store.lookup(facts, key);
      return !running.has(lookup.id) && !(await store.has(lookup));
    },
    /** Throws if the account has too many open. Returns the function that gives the place back. */
    enter(accountId: string, most: number): () => void {
      const taken = places.get(accountId) ?? 0;
      if (taken >= most) throw tooMany();
      places.set(accountId, taken + 1);
      let isIn = true;
      return () => {
        if (!isIn) return;
        isIn = false;
        takeOff(places, accountId);
      };
    },
    /** Throws if the account has got as much of earlier answers as it may in a minute. */
    claimReplay({ facts, plan }: Replayed, { transcript }: Recorded): void {
      const wait = replays.claim(facts.accountId, replayedBytes(plan), transcript.length());
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
    /** Registers a first request, which runs when this returns. Throws if memory is short. */
    record({ id }: KeyLookup, fingerprint: Uint8Array): Recording {
      if (memoryBytes > MEMORY_BYTES_MAX) throw crowded();
      const { entryBytes } = store.bounds;
      const onGrowth = (bytes: number): void => {
        memoryBytes += bytes;
      };
      const recording = new Recording(fingerprint, { most: entryBytes, onGrowth });
      running.set(id, recording);
      return recording;
    },
    /** Follows a first request until its answer is stored. `work` never rejects. */
    track({ id }: KeyLookup, recording: Recording, work: Promise<void>): void {
      const done = work.finally(() => {
        running.delete(id);
        storing.delete(done);
        memoryBytes -= recording.size();
        recording.end();
      });
      storing.add(done);
    },
    /** Resolves when the last answers are stored, or after a time limit. */
    async close(): Promise<void> {
      await withTimeout(STORE_MS, Promise.all([...storing]));
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
