// What becomes of the row of a first request: when it has ended, by its summary and by the books,
// and when a repeat finds the row without an answer.

import { afterAll, expect, test } from 'bun:test';
import { GatewayError } from '../../src/core/error.ts';
import { createRequestId } from '../../src/core/id.ts';
import { type Micro, ZERO } from '../../src/core/money.ts';
import type { AnswerSummary } from '../../src/core/request-summary.ts';
import type { Idempotency } from '../../src/http/idempotency.ts';
import { conclude, requireFree } from '../../src/http/keyed-books.ts';
import { createIdempotencyStore, type KeyLookup } from '../../src/idempotency/store.ts';
import { nodes } from '../../src/store/cluster-tables.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';

const database = await newDatabase(temporaryDirectory());
afterAll(() => database.close());

await database.db.insert(nodes).values({
  ...{ boot: 'boot_other', node: 'node_x', host: 'h', pid: 1, version: '1', addresses: '[]' },
  ...{ state: 'serving', redis: 'off', limits: 'own', catalogVersion: 1, catalogDigest: '' },
  ...{ inFlight: 0, clockOffsetMs: 0, startedAt: 1, heartbeatAt: 1, seenAt: 1, deadAt: null },
});

const NOW = 1_790_000_000_000;
const SECOND = 1_000;

const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

function openStore(incarnation: string, clock = () => NOW) {
  return createIdempotencyStore({
    ...{ database, clock, randomBytes, secret: 's'.repeat(32) },
    incarnation: () => incarnation,
    onTrouble: (error) => {
      throw error;
    },
  });
}

const store = openStore('boot_own');

type Claimed = { readonly lookup: KeyLookup; readonly requestId: string };

/** Claims a new key, or the name of a new body. */
async function claimed(isBody = false, by = store): Promise<Claimed> {
  const requestId = createRequestId(NOW, randomBytes);
  const asker = { accountId: 'acct_a', keyId: 'key_a' };
  const fingerprint = by.fingerprint('chat', requestId);
  const lookup = isBody ? by.lookupBody(asker, fingerprint) : by.lookup(asker, requestId);
  await by.claim(lookup, fingerprint, requestId);
  return { lookup, requestId };
}

const booksOf = (history: unknown) =>
  ({ explain: async () => history }) as unknown as Idempotency['books'];

type End = {
  /** Named by its body, and not by a key. */
  readonly isBody?: boolean;
  readonly summary?: Partial<AnswerSummary>;
  readonly history?: unknown;
};

/** The state of the row when its request has ended; undefined if it was removed. */
async function stateAfter({ isBody, summary, history }: End): Promise<string | undefined> {
  const { lookup, requestId } = await claimed(isBody);
  await conclude(
    { store, books: booksOf(history) },
    {
      ...{ lookup, requestId, summary: summary as AnswerSummary | undefined },
      answer: () => Buffer.from('answer'),
    },
  );
  return (await store.find(lookup))?.state;
}

const ONE = 1n as Micro;

const ended = (debited: bigint, more: object = {}) => ({
  ...{ record: { debited, ...more }, receipt: { sequence: 3 }, hold: { endedAt: NOW } },
});

const OPEN = { hold: { endedAt: null } };

test('an answer is kept if it was charged, or complete without a price', async () => {
  const failed = { outcome: 'upstream_failed', debited: ZERO, loss: ZERO } as const;
  expect(await stateAfter({ summary: { ...failed, debited: ONE } })).toBe('kept');
  expect(await stateAfter({ summary: { ...failed, loss: ONE } })).toBe('kept');
  expect(await stateAfter({ summary: { ...failed, outcome: 'completed' } })).toBe('kept');
  expect(await stateAfter({ summary: { ...failed, outcome: 'stopped_balance' } })).toBe('kept');
  expect(await stateAfter({ summary: failed })).toBeUndefined();
});

test('without a summary the books decide, and a charge is never forgotten', async () => {
  expect(await stateAfter({ history: undefined })).toBeUndefined();
  expect(await stateAfter({ history: ended(0n) })).toBeUndefined();
  expect(await stateAfter({ history: ended(1n) })).toBe('lost');
  // Its hold is open: recovery may charge it.
  expect(await stateAfter({ history: OPEN })).toBe('running');
});

test('a failed request that is named by its body is tried again, although it was charged', async () => {
  const charged = { debited: ONE, loss: ZERO } as const;
  for (const outcome of ['upstream_failed', 'gateway_failed'] as const) {
    const history = ended(1n, { outcome });
    expect(await stateAfter({ isBody: true, summary: { ...charged, outcome } })).toBeUndefined();
    expect(await stateAfter({ isBody: true, history })).toBeUndefined();
    expect(await stateAfter({ history })).toBe('lost');
  }
  for (const outcome of ['completed', 'stopped_balance', 'client_cancelled'] as const) {
    const history = ended(1n, { outcome });
    expect(await stateAfter({ isBody: true, summary: { ...charged, outcome } })).toBe('kept');
    expect(await stateAfter({ isBody: true, history })).toBe('lost');
  }
});

type Found = {
  readonly history: unknown;
  readonly owner?: 'boot_own' | 'boot_other' | 'boot_gone';
  /** Since its claim, and the end of its hold. */
  readonly seconds?: number;
  readonly isRunning?: boolean;
  /** Happens while the repeat is decided. */
  readonly meanwhile?: (first: Claimed) => Promise<void>;
};

/** What a repeat gets, and the state of the row afterwards. */
async function repeatOf(found: Found): Promise<readonly [outcome: unknown, state: unknown]> {
  const { history, owner = 'boot_own', seconds = 0, isRunning = false, meanwhile } = found;
  const first = await claimed(false, openStore(owner));
  const { lookup } = first;
  const row = await store.find(lookup);
  if (row === undefined) throw new Error('there is no row');
  await meanwhile?.(first);
  const idempotency = {
    ...{ store, books: booksOf(history), isRunning: () => isRunning },
    clock: () => NOW + seconds * SECOND,
  };
  const outcome = await requireFree(idempotency as unknown as Idempotency, lookup, row).then(
    () => 'free',
    (error: unknown) => (error instanceof GatewayError ? error.code : error),
  );
  return [outcome, (await store.find(lookup))?.state];
}

const RUNNING = ['idempotent_request_running', 'running'] as const;
const LOST = ['idempotent_answer_lost', 'lost'] as const;
const FREE = ['free', undefined] as const;

test('a repeat is refused while this process runs the first request, or its hold is open', async () => {
  for (const history of [undefined, OPEN, ended(1n)]) {
    expect(await repeatOf({ history, isRunning: true, seconds: 3_600 })).toEqual(RUNNING);
  }
  for (const owner of ['boot_own', 'boot_other', 'boot_gone'] as const) {
    expect(await repeatOf({ history: OPEN, owner, seconds: 3_600 })).toEqual(RUNNING);
  }
});

test('the books decide at once where no node runs the first request', async () => {
  for (const owner of ['boot_own', 'boot_gone'] as const) {
    expect(await repeatOf({ history: ended(1n), owner })).toEqual(LOST);
    for (const history of [undefined, ended(0n)]) {
      expect(await repeatOf({ history, owner })).toEqual(FREE);
    }
  }
});

test('a live node has a minute to write its hold and its answer, and then the books decide', async () => {
  const owner = 'boot_other';
  for (const history of [undefined, ended(0n), ended(1n)]) {
    expect(await repeatOf({ history, owner, seconds: 59 })).toEqual(RUNNING);
  }
  expect(await repeatOf({ history: ended(1n), owner, seconds: 60 })).toEqual(LOST);
  for (const history of [undefined, ended(0n)]) {
    expect(await repeatOf({ history, owner, seconds: 60 })).toEqual(FREE);
  }
});

test('an answer that is stored, or a row that is taken, at that moment is not touched', async () => {
  const keep = ({ lookup, requestId }: Claimed) =>
    store.keep(lookup, requestId, Buffer.from('answer'));
  for (const history of [undefined, ended(1n)]) {
    const kept = await repeatOf({ history, meanwhile: keep });
    expect(kept).toEqual(['idempotent_request_running', 'kept']);
    const taken = await repeatOf({
      history,
      async meanwhile({ lookup, requestId }) {
        await store.release(lookup, requestId);
        await store.claim(lookup, randomBytes(32), createRequestId(NOW, randomBytes));
      },
    });
    expect(taken).toEqual(RUNNING);
  }
});
