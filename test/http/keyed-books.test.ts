// How long a repeat waits for a first request that another node runs, and what ends the wait.

import { expect, test } from 'bun:test';
import { GatewayError } from '../../src/core/error.ts';
import type { Idempotency } from '../../src/http/idempotency.ts';
import { untilEnded } from '../../src/http/keyed-books.ts';
import type { KeptRequest, KeyLookup } from '../../src/idempotency/store.ts';

const FOUND = {
  id: 1,
  requestId: 'req_first',
  owner: 'boot_other',
  state: 'running',
} as KeptRequest;

const OPEN = { record: undefined };
const CHARGED = { record: { debited: 7_000_000n }, receipt: { sequence: 3 } };
const FREE = { record: { debited: 0n }, receipt: { sequence: 3 } };

type World = {
  /** What the books say after so many seconds. */
  readonly history: (seconds: number) => unknown;
  readonly isElsewhere?: (seconds: number) => boolean;
  readonly row?: (seconds: number) => Partial<KeptRequest> | undefined;
  readonly isServing?: (seconds: number) => boolean;
  readonly overAt?: number;
};

/** How the wait ended, after how many seconds and looks, and what became of the row. */
async function wait({ history, isElsewhere, row, isServing, overAt }: World) {
  let nowMs = 0;
  let looks = 0;
  let isRemoved = false;
  let isLost = false;
  const over = Promise.withResolvers<'over'>();
  const seconds = (): number => nowMs / 1_000;
  const idempotency = {
    store: {
      isElsewhere: async () => isElsewhere?.(seconds()) ?? true,
      async find() {
        looks += 1;
        return row === undefined ? FOUND : row(seconds());
      },
      async remove() {
        isRemoved = true;
      },
      async keep(_lookup: KeyLookup, _requestId: string, answer: Uint8Array | undefined) {
        isLost = answer === undefined;
      },
    },
    books: { explain: async () => history(seconds()) },
  } as unknown as Idempotency;
  const waiting = untilEnded(idempotency, {
    ...{ lookup: {} as KeyLookup, found: FOUND, monotonic: () => nowMs, over: over.promise },
    requireServing() {
      if (isServing?.(seconds()) === false) throw new GatewayError('provider_unavailable');
    },
    async sleep(ms) {
      nowMs += ms;
      if (overAt === undefined || seconds() < overAt) return;
      over.resolve('over');
      await new Promise(() => {});
    },
  });
  const end = await waiting.catch((error: unknown) =>
    error instanceof GatewayError ? error.code : error,
  );
  return { end, seconds: Math.round(seconds()), looks, isRemoved, isLost };
}

const kept = (at: number) => (seconds: number) =>
  seconds < at ? FOUND : { ...FOUND, state: 'kept' as const };

test('ends soon after the answer is there, and looks less often the longer it takes', async () => {
  const short = await wait({ history: () => OPEN, row: kept(1) });
  expect(short).toMatchObject({ end: 'ended', seconds: 1 });
  const long = await wait({ history: () => OPEN, row: kept(200) });
  expect(long.end).toBe('ended');
  expect(long.seconds).toBeWithin(200, 203);
  expect(long.looks).toBeLessThan(150);
});

test('ends after five minutes', async () => {
  const { end, seconds } = await wait({ history: () => OPEN });
  expect(end).toBe('idempotent_request_running');
  expect(seconds).toBeWithin(300, 303);
});

test('gives a live node time to store an answer that was charged, and then names the charge', async () => {
  const lost = await wait({ history: (seconds) => (seconds < 10 ? OPEN : CHARGED) });
  expect(lost).toMatchObject({ end: 'idempotent_answer_lost', isLost: true });
  expect(lost.seconds).toBeWithin(40, 45);
  const late = await wait({ history: () => CHARGED, row: kept(25) });
  expect(late).toMatchObject({ end: 'ended', isRemoved: false, isLost: false });
});

test('removes the row that a live node left behind without a charge, and not before', async () => {
  for (const history of [FREE, undefined]) {
    const left = await wait({ history: () => history });
    expect(left).toMatchObject({ end: 'ended', isRemoved: true });
    expect(left.seconds).toBeWithin(30, 35);
    // The hold may be written after the claim.
    const late = await wait({
      history: (seconds) => (seconds < 29 ? history : OPEN),
      row: kept(60),
    });
    expect(late).toMatchObject({ end: 'ended', isRemoved: false });
  }
});

test('asks the books at once where no node runs it', async () => {
  const isElsewhere = (): boolean => false;
  expect(await wait({ history: () => CHARGED, isElsewhere })).toMatchObject({
    ...{ end: 'idempotent_answer_lost', seconds: 0, isLost: true },
  });
  expect(await wait({ history: () => FREE, isElsewhere })).toMatchObject({
    ...{ end: 'ended', seconds: 0, isRemoved: true },
  });
  const recovered = await wait({
    history: (seconds) => (seconds < 8 ? OPEN : CHARGED),
    isElsewhere: (seconds) => seconds < 5,
  });
  expect(recovered.end).toBe('idempotent_answer_lost');
  expect(recovered.seconds).toBeWithin(8, 11);
});

test('ends when its client leaves, and when this node stops', async () => {
  expect(await wait({ history: () => OPEN, overAt: 5 })).toMatchObject({ end: 'over' });
  const stopped = await wait({ history: () => OPEN, isServing: (seconds) => seconds < 5 });
  expect(stopped.end).toBe('provider_unavailable');
  expect(stopped.seconds).toBeWithin(5, 8);
});
