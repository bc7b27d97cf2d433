// A repeat whose first request runs on another node for longer than it waits. The black-box tests
// have everything else.

import { afterAll, expect, test } from 'bun:test';
import { createRequestId } from '../../src/core/id.ts';
import { RequestEntrance } from '../../src/generate/entrance.ts';
import { createInFlight } from '../../src/generate/in-flight.ts';
import type { GenerationExchange, HandlerDependencies } from '../../src/http/exchange.ts';
import { createIdempotency } from '../../src/http/idempotency.ts';
import { answerOnce } from '../../src/http/keyed-request.ts';
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

function openStore(incarnation: string) {
  return createIdempotencyStore({
    ...{ database, clock: Date.now, randomBytes, secret: 's'.repeat(32) },
    incarnation: () => incarnation,
    onTrouble: (error) => {
      throw error;
    },
  });
}

test('gets 409 and a time to retry after five minutes, and gives its place back', async () => {
  await database.db.insert(nodes).values({
    ...{ boot: 'boot_other', node: 'node_x', host: 'h', pid: 1, version: '1', addresses: '[]' },
    ...{ state: 'serving', redis: 'off', limits: 'own', catalogVersion: 1, catalogDigest: '' },
    ...{ inFlight: 0, clockOffsetMs: 0, startedAt: 1, heartbeatAt: 1, seenAt: 1, deadAt: null },
  });
  const other = openStore('boot_other');
  await other.claim(
    other.lookup(FACTS, 'k'),
    other.fingerprint('chat', BODY),
    createRequestId(Date.now(), randomBytes),
  );

  const codes: string[] = [];
  let minutes = 0;
  const idempotency = createIdempotency({
    store: openStore('boot_own'),
    books: { explain: async () => RUNNING },
  });
  const dependencies = {
    idempotency,
    isRefusing: () => false,
    isAway: () => false,
    noteRefusal: () => undefined,
    generation: {
      inFlight: createInFlight(),
      entrance: new RequestEntrance({
        limits: { left: () => ROOMY, countRefused: async () => undefined },
        bodyBytes: Infinity,
        monotonic: () => 0,
      }),
      monotonic: () => {
        minutes += 6;
        return minutes * 60_000;
      },
    },
  };
  const plan = { slug: 'plan', concurrentRequests: 1 };
  const ask = (): Promise<Response> => {
    const request = new Request('http://localhost/v1/chat/completions', {
      method: 'POST',
      headers: { 'idempotency-key': 'k' },
    });
    const exchange = {
      limitIdle: () => undefined,
      request,
      signal: request.signal,
      format: chatFormat,
      requestId: createRequestId(Date.now(), randomBytes),
      operator: { catalog: { plans: new Map([['plan', plan]]) } },
      tally: { answered: (_status: number, code: string) => void codes.push(code) },
      authorize: () => FACTS,
      readBody: async () => ({ value: JSON.parse(BODY), text: BODY }),
    };
    return answerOnce(
      dependencies as unknown as HandlerDependencies,
      exchange as unknown as GenerationExchange,
    );
  };

  // Twice the concurrent requests may be open: the third would be refused if places leaked.
  for (let count = 0; count < 3; count += 1) {
    const response = await ask();
    expect([response.status, response.headers.get('retry-after')]).toEqual([409, '2']);
    expect(response.headers.get('x-should-retry')).toBeNull();
  }
  expect(codes).toEqual(Array.from({ length: 3 }, () => 'idempotent_request_running'));
});
