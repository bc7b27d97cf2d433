// Refused requests count towards the requests of a minute, so that a flood of them ends in 429
// regardless of the number of connections. They are never billed.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { EVERY_FORMAT, type EveryFormat, generate } from '../support/client.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const REQUESTS = 12;
const CONNECTIONS = 8;

const REFUSED: readonly (readonly [number, string, string, Record<string, unknown>])[] = [
  [402, 'insufficient_balance', 'ok', { max_tokens: 4_000 }],
  [400, 'context_length_exceeded', 'ok', { max_tokens: 200_000 }],
  [400, 'invalid_request', 'ok', { temperature: 'hot' }],
  [404, 'model_not_found', 'no-such-model', {}],
];

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
});

afterAll(() => upstream.close());

function start(): Promise<Gateway> {
  return startGateway({
    catalog: catalogFor(upstream, ['ok'], {
      plans: { few: { ...LARGE_PLAN, requests_per_minute: REQUESTS } },
    }),
  });
}

/** All answers of a flood over several connections, each at its full speed. */
async function flood(
  account: TestAccount,
  format: EveryFormat,
  [, , model, more]: (typeof REFUSED)[0],
) {
  const answers: { status: number; code: unknown; headers: Headers }[] = [];
  const connection = async (): Promise<void> => {
    for (let turn = 0; turn < REQUESTS; turn += 1) {
      const { status, headers, json } = await generate(account, format, model, more);
      const { error } = json as { error?: { code: unknown } };
      answers.push({ status, headers, code: error?.code });
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return answers;
}

describe('one account', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await start();
  });

  afterAll(() => gateway[Symbol.asyncDispose]());

  test.each(
    EVERY_FORMAT.flatMap((format) =>
      REFUSED.map((refused) => [refused[1], format, refused] as const),
    ),
  )('a flood of %s ends in 429 (%s)', async (code, format, refused) => {
    const account = await gateway.createAccount({ plan: 'few', credit: 50 });
    const answers = await flood(account, format, refused);
    const refusals = answers.filter((answer) => answer.status === refused[0]);
    const limited = answers.filter((answer) => answer.status === 429);
    expect(refusals.length + limited.length).toBe(answers.length);
    expect(new Set(refusals.map((answer) => answer.code))).toEqual(new Set([code]));
    expect(refusals).toHaveLength(REQUESTS);
    for (const { code: limit, headers } of limited) {
      expect(limit).toBe('rate_limit_exceeded');
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    // Neither are the requests that could be served, until the window resets.
    expect((await generate(account, format, 'ok', { max_tokens: 5 })).status).toBe(429);
    const balance = await gateway.run('account', 'show', account.id);
    expect(JSON.stringify(balance)).toContain('"50"');
  });
});

test('refusals and answers use up the same window', async () => {
  await using gateway = await start();
  const account = await gateway.createAccount({ plan: 'few', credit: 1_000_000 });
  const ask = (more: Record<string, unknown>) => generate(account, 'chat', 'ok', more);
  expect((await ask({ max_tokens: 5 })).status).toBe(200);
  expect((await ask({ max_tokens: 200_000 })).status).toBe(400);
  const { headers } = await ask({ max_tokens: 5 });
  expect(headers.get('x-ratelimit-remaining-requests')).toBe(String(REQUESTS - 3));
});
