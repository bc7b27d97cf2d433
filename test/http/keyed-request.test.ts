// Repeats that black-box tests cannot bring about: of a request that another node runs, and of answers
// that are larger than what an account gets again in a minute.

import { afterAll, expect, test } from 'bun:test';
import { createRequestId } from '../../src/core/id.ts';
import { RequestEntrance } from '../../src/generate/entrance.ts';
import { createInFlight } from '../../src/generate/in-flight.ts';
import type { GenerationExchange, HandlerDependencies } from '../../src/http/exchange.ts';
import { createIdempotency } from '../../src/http/idempotency.ts';
import { answerOnce } from '../../src/http/keyed-request.ts';
import { packAnswer } from '../../src/http/recording.ts';
import { createIdempotencyStore } from '../../src/idempotency/store.ts';
import { Transcript } from '../../src/idempotency/transcript.ts';
import type { RequestHistory } from '../../src/ledger/explain.ts';
import type { AccountLeft } from '../../src/limits/contract.ts';
import { nodes } from '../../src/store/cluster-tables.ts';
import { chatFormat } from '../../src/wire/chat/format.ts';
import { messagesFormat } from '../../src/wire/messages/format.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';

const BODY = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}';
const FACTS = { accountId: 'acct_a', keyId: 'key_a', plan: 'plan' };

/** What the books say while the other node runs it. */
const RUNNING = { record: undefined, hold: { endedAt: null } } as RequestHistory;

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

/** One process, and an account with a slot. */
function rig() {
  const codes: string[] = [];
  let counted = 0;
  const store = openStore('boot_own');
  const idempotency = createIdempotency({
    ...{ store, books: { explain: async () => RUNNING } },
    ...{ clock: Date.now, monotonic: () => 0 },
  });
  const limits = {
    left: () => ROOMY,
    async countRefused(): Promise<undefined> {
      counted += 1;
    },
  };
  const serviceState = {
    catalog: {
      plans: new Map([['plan', { slug: 'plan', concurrentRequests: 1, requestsPerMinute: 10 }]]),
    },
  };
  const dependencies = {
    ...{ idempotency, serviceState: () => serviceState },
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
    },
  };
  const ask = (key: string, format = chatFormat): Promise<Response> => {
    const request = new Request('http://localhost/v1/chat/completions', {
      method: 'POST',
      headers: { 'idempotency-key': key },
    });
    const exchange = {
      limitIdle: () => undefined,
      ...{ request, serviceState, signal: request.signal, format },
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
  return { ...{ codes, store, ask }, counted: () => counted };
}

test.each([chatFormat, messagesFormat])(
  'gets 409 and a time to retry while another node runs the first one, and gives its place back ($name)',
  async (format) => {
    const boot = `boot_${format.name}`;
    await database.db.insert(nodes).values({
      ...{ boot, node: boot, host: 'h', pid: 1, version: '1', addresses: '[]' },
      ...{ state: 'serving', redis: 'off', limits: 'own', catalogVersion: 1, catalogDigest: '' },
      ...{ inFlight: 0, clockOffsetMs: 0, startedAt: 1, heartbeatAt: 1, seenAt: 1, deadAt: null },
    });
    const other = openStore(boot);
    const key = `k-${format.name}`;
    await other.claim(other.lookup(FACTS, key), other.fingerprint(format.name, BODY), newId());

    const { codes, ask, counted } = rig();
    // Twice the concurrent requests may be open: the third would be refused if places leaked.
    for (let count = 0; count < 3; count += 1) {
      const response = await ask(key, format);
      expect([response.status, response.headers.get('retry-after')]).toEqual([409, '5']);
      expect(response.headers.get('x-should-retry')).toBeNull();
      expect(await response.json()).toMatchObject({
        ...(format === messagesFormat && { type: 'error' }),
        error: { type: 'invalid_request_error', code: 'idempotent_request_running' },
      });
    }
    expect(codes).toEqual(Array.from({ length: 3 }, () => 'idempotent_request_running'));
    expect(counted()).toBe(3);
  },
);

test('gets 64 MiB of earlier answers in a minute, and any one of them', async () => {
  const { codes, store, ask } = rig();
  const [lookup, fingerprint] = [store.lookup(FACTS, 'l'), store.fingerprint('chat', BODY)];
  const transcript = new Transcript();
  transcript.append(new Uint8Array(40 * 1_048_576));
  const requestId = newId();
  await store.claim(lookup, fingerprint, requestId);
  const head = { requestId, status: 200, headers: [], isStream: false };
  await store.keep(lookup, requestId, packAnswer(head, transcript));
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
