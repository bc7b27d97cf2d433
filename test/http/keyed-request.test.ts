// Repeats at moments that black-box tests cannot choose: a first request that runs on another node for
// longer than they wait, and one that has failed and whose row is not removed yet.

import { afterAll, expect, test } from 'bun:test';
import { createRequestId } from '../../src/core/id.ts';
import { RequestEntrance } from '../../src/generate/entrance.ts';
import { createInFlight } from '../../src/generate/in-flight.ts';
import type { GenerationExchange, HandlerDependencies } from '../../src/http/exchange.ts';
import { createIdempotency } from '../../src/http/idempotency.ts';
import { answerOnce } from '../../src/http/keyed-request.ts';
import { Recording } from '../../src/http/recording.ts';
import { createIdempotencyStore } from '../../src/idempotency/store.ts';
import type { RequestHistory } from '../../src/ledger/explain.ts';
import type { AccountLeft } from '../../src/limits/contract.ts';
import { nodes } from '../../src/store/cluster-tables.ts';
import { chatFormat } from '../../src/wire/chat/format.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';

const BODY = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}';
const FACTS = { accountId: 'acct_a', keyId: 'key_a', plan: 'plan' };

/** What the books say while the other node runs it. */
const RUNNING = { record: undefined } as RequestHistory;

const ROOMY: AccountLeft = {
  ...{ limitRequests: 10, remainingRequests: 10, limitTokens: 10, remainingTokens: 10 },
  ...{ resetRequestsSeconds: 60, freeSlots: 1 },
};

const database = await newDatabase(temporaryDirectory());
afterAll(() => database.close());

const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

const newId = (): string => createRequestId(Date.now(), randomBytes);

function openStore(incarnation: string) {
  return createIdempotencyStore({
    ...{ database, clock: Date.now, randomBytes, secret: 's'.repeat(32) },
    incarnation: () => incarnation,
    onTrouble: (error) => {
      throw error;
    },
  });
}

/** One process, and an account with a slot. `counted` resolves when a repeat has decided what it is. */
function rig() {
  const codes: string[] = [];
  let minutes = 0;
  let counted = Promise.withResolvers<void>();
  const idempotency = createIdempotency({
    store: openStore('boot_own'),
    books: { explain: async () => RUNNING },
    monotonic: () => 0,
  });
  const limits = {
    left: () => ROOMY,
    async countRefused(): Promise<undefined> {
      counted.resolve();
      counted = Promise.withResolvers();
    },
  };
  const operator = {
    catalog: {
      plans: new Map([['plan', { slug: 'plan', concurrentRequests: 1, requestsPerMinute: 10 }]]),
    },
  };
  const dependencies = {
    ...{ idempotency, operator: () => operator },
    isRefusing: () => false,
    isAway: () => false,
    noteRefusal: () => undefined,
    generation: {
      limits,
      inFlight: createInFlight(),
      entrance: new RequestEntrance({
        funds: { require: () => undefined },
        limits,
        bodyBytes: Infinity,
        monotonic: () => 0,
      }),
      monotonic: () => {
        minutes += 6;
        return minutes * 60_000;
      },
    },
  };
  const ask = (key: string): Promise<Response> => {
    const request = new Request('http://localhost/v1/chat/completions', {
      method: 'POST',
      headers: { 'idempotency-key': key },
    });
    const exchange = {
      limitIdle: () => undefined,
      ...{ request, operator, signal: request.signal, format: chatFormat },
      requestId: newId(),
      tally: {
        answered: (_status: number, code: string) => void codes.push(code),
        replays: () => undefined,
      },
      authorize: () => FACTS,
      readBody: async () => ({ value: JSON.parse(BODY), text: BODY }),
    };
    return answerOnce(
      dependencies as unknown as HandlerDependencies,
      exchange as unknown as GenerationExchange,
    );
  };
  return { ...{ codes, idempotency, ask }, counted: () => counted.promise };
}

/** The beginning of a stream, whole. */
function streamOf(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

test('gets 409 and a time to retry after five minutes, and gives its place back', async () => {
  await database.db.insert(nodes).values({
    ...{ boot: 'boot_other', node: 'node_x', host: 'h', pid: 1, version: '1', addresses: '[]' },
    ...{ state: 'serving', redis: 'off', limits: 'own', catalogVersion: 1, catalogDigest: '' },
    ...{ inFlight: 0, clockOffsetMs: 0, startedAt: 1, heartbeatAt: 1, seenAt: 1, deadAt: null },
  });
  const other = openStore('boot_other');
  await other.claim(other.lookup(FACTS, 'k'), other.fingerprint('chat', BODY), newId());

  const { codes, ask } = rig();
  // Twice the concurrent requests may be open: the third would be refused if places leaked.
  for (let count = 0; count < 3; count += 1) {
    const response = await ask('k');
    expect([response.status, response.headers.get('retry-after')]).toEqual([409, '2']);
    expect(response.headers.get('x-should-retry')).toBeNull();
  }
  expect(codes).toEqual(Array.from({ length: 3 }, () => 'idempotent_request_running'));
});

test('is tried again after a failure, although the row of that is not removed yet', async () => {
  const { idempotency, ask, counted } = rig();
  const { store } = idempotency;
  const [lookup, fingerprint] = [store.lookup(FACTS, 'f'), store.fingerprint('chat', BODY)];
  const failed = idempotency.record(lookup, fingerprint);
  await failed.record(newId(), streamOf('failed'), () => false);
  const removed = Promise.withResolvers<void>();
  idempotency.track(lookup, failed, removed.promise);
  const decided = counted();
  const repeat = ask('f');
  await decided;

  // It was tried again by the time that this repeat decides again.
  const second = new Recording(fingerprint, { most: 1_000, onGrowth: () => undefined });
  const requestId = newId();
  await store.claim(lookup, fingerprint, requestId);
  await second.record(requestId, streamOf('second'), () => true);
  await store.keep(lookup, requestId, second.packed());
  removed.resolve();
  expect(await (await repeat).text()).toBe('second');
});

test.each([
  ['was charged', true],
  ['may have been charged', undefined],
])('reads a stream that has ended and %s at once, before it is stored', async (_name, isFinal) => {
  const { idempotency, ask } = rig();
  const { store } = idempotency;
  const [lookup, fingerprint] = [store.lookup(FACTS, 'e'), store.fingerprint('chat', BODY)];
  const ended = idempotency.record(lookup, fingerprint);
  await ended.record(newId(), streamOf('ended'), () => isFinal);
  idempotency.track(lookup, ended, new Promise(() => {}));
  expect(await (await ask('e')).text()).toBe('ended');
});

test('gets 64 MiB of earlier answers in a minute, and any one of them', async () => {
  const { codes, idempotency, ask } = rig();
  const { store } = idempotency;
  const [lookup, fingerprint] = [store.lookup(FACTS, 'l'), store.fingerprint('chat', BODY)];
  const large = new Recording(fingerprint, { most: 1_000, onGrowth: () => undefined });
  const requestId = newId();
  await store.claim(lookup, fingerprint, requestId);
  await large.record(requestId, new Response(new Uint8Array(40 * 1_048_576)), () => true);
  await store.keep(lookup, requestId, large.packed());
  for (let count = 0; count < 2; count += 1) {
    const repeat = await ask('l');
    expect(repeat.status).toBe(200);
    await repeat.body?.cancel();
  }
  // 16 MiB too many have come.
  for (let count = 0; count < 3; count += 1) {
    const refused = await ask('l');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '15']);
    await refused.text();
  }
  expect(codes.slice(-3)).toEqual(Array.from({ length: 3 }, () => 'rate_limit_exceeded'));
});
