// Whose fault a refusal of an upstream is, from outside: a model that refuses every request, a
// parameter that the gateway chose, a limit of one place, and a content filter. What an upstream
// said reaches operators and no customer.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  answersProbes,
  type Behaviour,
  HELLO,
  play,
  SAYS_HELLO,
  sendWhole,
} from '../support/behaviours.ts';
import { catalogOf, ROOMY_PLAN } from '../support/catalog.ts';
import { FORMATS, type Format, PATHS, post } from '../support/client.ts';
import { explain } from '../support/explain.ts';
import { type Gateway, runCommand, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

type Json = Record<string, unknown>;

const METRICS = 'm'.repeat(32);
const WORD = `word${crypto.randomUUID().replaceAll('-', '')}`;

function refusal(status: number, error: Json): Behaviour {
  return (exchange) => sendWhole(exchange, status, JSON.stringify({ error }));
}

const tooLarge = { code: 'invalid_value', param: 'max_tokens', message: `${WORD} is too large` };

/** By the upstream's name of the model. */
const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  misspelt: refusal(400, { message: `${WORD}: Invalid model name`, code: '400' }),
  pathless: refusal(404, { message: `${WORD} Not Found` }),
  echoing: answersProbes((exchange) => {
    const [{ content }] = exchange.request.body['messages'] as [{ content: string }];
    refusal(404, { code: 'not_here', message: `${WORD}: no place for "${content}"` })(exchange);
  }),
  // Each refuses what a caller wrote, and has answered others.
  strict: (exchange) =>
    exchange.request.text.includes('refuse me')
      ? refusal(400, { message: `${WORD}: bad request` })(exchange)
      : play(SAYS_HELLO)(exchange),
  bounded: (exchange) =>
    Number(exchange.request.body['max_tokens']) > 4_096
      ? refusal(400, tooLarge)(exchange)
      : play(SAYS_HELLO)(exchange),
  small: answersProbes((exchange) =>
    sendWhole(exchange, 413, '<html><title>413</title>nginx</html>', 'text/html'),
  ),
  limited: answersProbes(
    refusal(413, { code: 'tokens_limit_reached', message: 'Max size: 8000 tokens.' }),
  ),
  filtered: answersProbes(
    refusal(400, {
      ...{ message: 'The response was filtered', type: null, param: 'prompt', status: 400 },
      ...{ code: 'content_filter', innererror: { code: 'ResponsibleAIPolicyViolation' } },
    }),
  ),
};

const names = Object.keys(BEHAVIOURS);

let upstream: Upstream;
let gateway: Gateway;
let environment: Readonly<Record<string, string>>;
let webhook: ReturnType<typeof Bun.serve>;
let ada: TestAccount;
let bob: TestAccount;
const alerts: string[] = [];

beforeAll(async () => {
  upstream = await startUpstream(BEHAVIOURS);
  webhook = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      alerts.push(await request.text());
      return new Response();
    },
  });
  environment = {
    LOG_LEVEL: 'debug',
    METRICS_TOKEN: METRICS,
    ALERT_WEBHOOK_URL: `${webhook.url}alerts`,
  };
  gateway = await startGateway({
    environment,
    catalog: catalogOf({
      upstreams: [...names, 'ok'].map((id) => ({
        id,
        dialect: 'chat',
        base_url: upstream.site(id).baseUrl,
        api_key: 'k',
      })),
      models: [
        { slug: 'ok', served_by: [{ upstream: 'ok', model: 'ok' }] },
        ...names.flatMap((name) =>
          [[], ['ok']].map((fallbacks) => ({
            slug: fallbacks.length === 0 ? name : `${name}-or-ok`,
            max_output: 8_192,
            served_by: [{ upstream: name, model: name }],
            fallbacks,
          })),
        ),
      ],
      plans: { roomy: ROOMY_PLAN },
    }),
  });
  ada = await gateway.createAccount({ email: 'ada@example.com', plan: 'roomy', credit: 1_000_000 });
  bob = await gateway.createAccount({ email: 'bob@example.com', plan: 'roomy', credit: 1_000_000 });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream.close();
  await webhook.stop(true);
});

async function ask(account: TestAccount, model: string, more: Json = {}, format: Format = 'chat') {
  const messages = [{ role: 'user', content: 'Hello?' }];
  const response = await post(account, PATHS[format], { model, messages, ...more });
  const text = await response.text();
  expect(text).not.toContain(WORD);
  return { status: response.status, text, id: response.headers.get('x-request-id') ?? '' };
}

async function warnings(): Promise<string[]> {
  const headers = { authorization: `Bearer ${METRICS}` };
  const answer = (await (await fetch(`${gateway.url}/readyz`, { headers })).json()) as Json;
  return answer['warnings'] as string[];
}

describe.each(['misspelt', 'pathless'])('a model that refuses everything: %s', (name) => {
  test("is never the first customer's mistake", async () => {
    expect((await ask(ada, name)).status).toBe(503);
    expect((await ask(bob, name, { stream: true })).status).toBe(503);
  });

  test('is served by its fallback', async () => {
    for (const format of FORMATS) {
      const more = { max_tokens: 100 };
      const { status, text } = await ask(ada, `${name}-or-ok`, more, format);
      expect([status, text.includes(HELLO)]).toEqual([200, true]);
    }
  });

  test('is announced with what the upstream said', async () => {
    const isIt = (text: string) => text.includes(`fails for ${name};`) && text.includes(WORD);
    await waitUntil(() => alerts.some(isIt));
    expect(await warnings()).toContain(`upstream ${name} fails for ${name}`);
    expect(upstream.probed(name).length).toBeLessThan(4);
  });
});

describe('what an upstream said', () => {
  test('is in explain and in the log at debug, without what the caller wrote', async () => {
    const secret = `Refuse me: the password is ${crypto.randomUUID()}`;
    for (let turn = 0; turn < 2; turn += 1) await ask(ada, 'echoing-or-ok');
    const { id } = await ask(ada, 'echoing-or-ok', {
      messages: [{ role: 'user', content: secret }],
    });
    await waitUntil(async () => {
      const { attempts } = await explain(gateway, id);
      return attempts[0]?.['said'] !== null;
    });
    const [attempt] = (await explain(gateway, id)).attempts;
    expect(attempt?.['said']).toEqual({ words: expect.stringContaining(WORD), exact: true });
    expect(JSON.stringify(attempt)).toContain('404 not_here: ');
    expect(JSON.stringify(attempt)).not.toContain('password');
    await waitUntil(() => gateway.output().includes(`"requestId":"${id}"`));
    const lines = gateway
      .output()
      .split('\n')
      .filter((line) => line.includes('attempt failed'));
    expect(lines.filter((line) => line.includes(id))).toMatchObject([
      expect.stringContaining(WORD),
    ]);
    expect(gateway.output()).not.toContain('password');
  });
});

describe('doctor', () => {
  type Check = { readonly name: string; readonly ok: boolean; readonly detail: string };

  test('names models that fail, with what the upstream said', async () => {
    const beside = { ...environment, PORT: new URL(gateway.url).port };
    const doctor = await runCommand(gateway.directory, beside, ['doctor', '--json']);
    const { checks } = JSON.parse(doctor.stdout) as { readonly checks: readonly Check[] };
    const found = checks.find(({ name }) => name === 'upstreams');
    expect([doctor.code, found?.ok]).toEqual([1, false]);
    for (const name of ['misspelt', 'pathless']) {
      expect(found?.detail).toContain(`upstream ${name} fails for ${name}`);
    }
    expect(found?.detail).not.toContain('upstream ok');
  });
});

describe('a customer whose requests are refused', () => {
  test('gets 400 from the first request on', async () => {
    expect((await ask(ada, 'strict', { messages: [REFUSED] })).status).toBe(400);
  });

  test('takes the model from no other one, and gets no fallback', async () => {
    for (let turn = 0; turn < 30; turn += 1) {
      const account = turn % 2 === 0 ? ada : bob;
      const model = turn % 3 === 0 ? 'strict-or-ok' : 'strict';
      expect((await ask(account, model, { messages: [REFUSED] })).status).toBe(400);
    }
    expect((await ask(ada, 'strict')).status).toBe(200);
    expect((await ask(bob, 'strict')).status).toBe(200);
    expect(alerts.filter((text) => text.includes('strict'))).toEqual([]);
    // One each before and after the model has answered.
    expect(upstream.probed('strict').length).toBeLessThan(6);
  });
});

const REFUSED = { role: 'user', content: 'Please refuse me.' };

describe('a parameter that the client did not send', () => {
  test("is the gateway's fault: the fallback serves, or 503", async () => {
    expect((await ask(ada, 'bounded', { max_tokens: 10 })).status).toBe(200);
    expect((await ask(ada, 'bounded')).status).toBe(503);
    expect((await ask(ada, 'bounded-or-ok')).status).toBe(200);
    await waitUntil(() => alerts.some((text) => text.includes('refuses max_tokens for bounded')));
    expect(await warnings()).toContainEqual(
      expect.stringContaining('upstream bounded refuses max_tokens for bounded'),
    );
  });

  test("is the client's where it sent it", async () => {
    expect((await ask(ada, 'bounded', { max_tokens: 5_000 })).status).toBe(400);
  });
});

describe('a limit of one place', () => {
  test.each(['small', 'limited'])('%s: the fallback serves, or 413', async (name) => {
    for (const format of FORMATS) {
      const more = { max_tokens: 100 };
      const alone = await ask(ada, name, more, format);
      expect([alone.status, alone.text]).toEqual([
        413,
        expect.stringContaining('payload_too_large'),
      ]);
      expect((await ask(ada, `${name}-or-ok`, more, format)).status).toBe(200);
    }
  });
});

describe('a content filter', () => {
  test('is named as one, is not retried, and counts against no upstream', async () => {
    for (let turn = 0; turn < 12; turn += 1) {
      const { status, text } = await ask(ada, 'filtered-or-ok', { stream: turn % 2 === 0 });
      expect([status, text]).toEqual([400, expect.stringContaining('content_policy')]);
    }
    expect([upstream.asked('filtered').length, upstream.probed('filtered').length]).toEqual([
      12, 0,
    ]);
    expect(await warnings()).not.toContainEqual(expect.stringContaining('filtered'));
  });
});
