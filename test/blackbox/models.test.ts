// The list endpoints over a real socket: models with their aliases and what a plan includes, the
// keys of an account, and its limits. The lists are compared with what generation does.

import { beforeAll, describe, expect, test } from 'bun:test';
import { catalogFor, ROOMY_PLAN } from '../support/catalog.ts';
import { generate, get } from '../support/client.ts';
import { held } from '../support/description.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;
let narrow: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream();
  const catalog = catalogFor(upstream, ['ok', 'plain', 'busy'], {
    service: { name: 'example service', usd_per_million: '2.00' },
    models: {
      ok: {
        aliases: ['alias-of-ok', 'Vendor/One:free'],
        display_name: 'Okay',
        description: 'Says hello.',
        created: '2026-01-01',
      },
      plain: { features: ['tools'], price: { input: '1', cached_input: '1', output: '2' } },
      busy: { incident_limits: { requests_per_minute: 7 } },
    },
    plans: { narrow: { ...ROOMY_PLAN, max_context: 1_000, max_api_keys: 2, models: ['plain'] } },
  });
  gateway = await startGateway({ catalog });
  [account, narrow] = await Promise.all([
    gateway.createAccount({ credit: 1_000 }),
    gateway.createAccount({ plan: 'narrow' }),
  ]);
});

closeAtEnd(() => [upstream, gateway]);

const PLANS = ['pay-as-you-go', 'starter', 'pro', 'power', 'business'];

const RATES = {
  version: expect.any(String),
  input: '2',
  cached_input: '0.2',
  cache_write: '2',
  output: '4',
  svc_tokens: {
    ...{ input: '1000000', cached_input: '100000' },
    ...{ cache_write: '1000000', output: '2000000' },
  },
};

const OKAY = {
  id: 'ok',
  object: 'model',
  type: 'model',
  created: 1_767_225_600,
  created_at: '2026-01-01T00:00:00Z',
  owned_by: 'example service',
  display_name: 'Okay',
  description: 'Says hello.',
  aliases: ['alias-of-ok', 'Vendor/One:free'],
  context_window: 128_000,
  effective_context: 128_000,
  max_output_tokens: 8_192,
  max_input_tokens: 128_000,
  max_tokens: 8_192,
  input_modalities: ['text', 'image'],
  output_modalities: ['text'],
  features: {
    tools: true,
    json_mode: true,
    vision: true,
    reasoning: true,
    streaming: true,
    prompt_cache: true,
  },
  capabilities: null,
  reasoning: { efforts: ['none', 'low', 'high', 'max'], default_effort: 'high', can_disable: true },
  pricing: {
    currency: 'USD',
    unit: '1M_tokens',
    ...RATES,
    next_change_at: null,
    schedule: [{ valid_from: null, ...RATES, windows: [] }],
  },
  available: true,
  plans: PLANS,
  on_disconnect: 'continues',
  status: 'active',
  lifecycle: 'active',
  line: null,
  limits: null,
  deprecation: null,
  deprecated_at: null,
  retires_at: null,
};

type Records = { readonly id: string; readonly [field: string]: unknown }[];

describe('models', () => {
  test('are listed in the order of the catalog, on one page', async () => {
    const { status, json, headers } = await get(account, '/v1/models');
    const data = json['data'] as Records;
    expect(status).toBe(200);
    expect<unknown>({ ...json, data: data.map(({ id }) => id) }).toEqual({
      object: 'list',
      data: ['ok', 'plain', 'busy'],
      has_more: false,
      first_id: 'ok',
      last_id: 'busy',
    });
    expect(data[0]).toEqual(OKAY);
    expect(headers.get('x-request-id')).toStartWith('req_');
    expect(headers.get('x-ratelimit-limit-requests')).toBeNull();
  });

  test('case 17: one is found by its slug and by its alias', async () => {
    expect((await get(account, '/v1/models/ok')).json).toEqual(OKAY);
    expect((await get(account, '/v1/models/alias-of-ok')).json).toEqual(OKAY);
  });

  test.each(['Vendor/One:free', 'Vendor%2FOne%3Afree'])(
    'one is found by an alias with a slash, encoded or not: %s',
    async (alias) => {
      expect((await get(account, `/v1/models/${alias}`)).json).toEqual(OKAY);
    },
  );

  test('one that does not exist is a 404', async () => {
    const { status, json } = await get(account, '/v1/models/other');
    expect([status, json]).toMatchObject([
      404,
      { error: { type: 'not_found_error', code: 'model_not_found', param: 'model' } },
    ]);
  });

  test('a plan sees what it may use, and how much of it', async () => {
    const records = (await get(narrow, '/v1/models')).json['data'] as Records;
    const seen = records.map(({ id, available, effective_context: context }) => [
      id,
      available,
      context,
    ]);
    expect(seen).toEqual([
      ['ok', false, 1_000],
      ['plain', true, 1_000],
      ['busy', false, 1_000],
    ]);
    const statuses = await Promise.all(
      ['ok', 'plain', 'busy'].map(async (model) => {
        return (await generate(narrow, 'chat', model, { max_tokens: 9 })).status;
      }),
    );
    expect(statuses).toEqual([403, 200, 403]);
  });

  test('features are those of the catalog', async () => {
    const { json } = await get(account, '/v1/models/plain');
    expect(json).toMatchObject({
      features: { tools: true, json_mode: false, vision: false, reasoning: false },
      input_modalities: ['text'],
      reasoning: null,
      plans: [...PLANS, 'narrow'],
    });
    expect(json['features']).toMatchObject({ prompt_cache: false });
  });

  test('a feature that a model lacks is rejected before an upstream is asked', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    const needs = {
      vision: { messages: [{ role: 'user', content: [image] }] },
      json_mode: { response_format: { type: 'json_schema', json_schema: { name: 'a' } } },
    };
    const before = upstream.requests.length;
    const messages = await generate(account, 'messages', 'plain', {
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    });
    expect(messages.status).toBe(400);
    expect(messages.json['error']).toMatchObject({
      message: expect.stringContaining('output_config.format'),
    });
    for (const [feature, more] of Object.entries(needs)) {
      const { status, json } = await generate(account, 'chat', 'plain', more);
      const field = feature === 'vision' ? 'messages' : 'response_format';
      expect([feature, status, json['error']]).toMatchObject([
        feature,
        400,
        { code: 'invalid_request', param: field },
      ]);
    }
    expect(upstream.requests).toHaveLength(before);
    const able = await generate(account, 'chat', 'ok', { ...needs.json_mode, max_tokens: 9 });
    expect(able.status).toBe(200);
  });
});

describe('pages of the list', () => {
  test('walk through all models, forwards and backwards', async () => {
    const all = (await get(account, '/v1/models')).json['data'] as { id: string }[];
    const walk = async (cursor: 'after_id' | 'before_id', end: 'last_id' | 'first_id') => {
      const pages: { id: string }[][] = [];
      for (let at = '', more = true; more; ) {
        const { json } = await get(account, `/v1/models?limit=2&${cursor}=${at}`);
        pages.push(json['data'] as { id: string }[]);
        at = String(json[end]);
        more = json['has_more'] === true;
      }
      return pages;
    };
    const forwards = await walk('after_id', 'last_id');
    expect(forwards.flat()).toEqual(all);
    expect(forwards.every(({ length }) => length > 0 && length <= 2)).toBe(true);
    const { json } = await get(account, `/v1/models?limit=1&before_id=${all.at(-1)?.id}`);
    expect(json).toMatchObject({ data: all.slice(-2, -1), has_more: all.length > 2 });
  });

  test('begin behind the first of two cursors and end before the second', async () => {
    const all = (await get(account, '/v1/models')).json['data'] as { id: string }[];
    const [first, last] = [all[0]?.id, all.at(-1)?.id];
    const between = async (after?: string, before?: string, limit = 1_000) => {
      const query = `after_id=${after}&before_id=${before}&limit=${limit}`;
      const { status, json } = await get(account, `/v1/models?${query}`);
      return [status, json['data'], json['has_more']];
    };
    expect(await between(first, last)).toEqual([200, all.slice(1, -1), false]);
    expect(await between(first, last, 1)).toEqual([200, all.slice(1, 2), all.length > 3]);
    for (const pair of [
      [first, first],
      [last, first],
      ['none', last],
      ['none', 'none'],
    ]) {
      expect(await between(...pair)).toEqual([200, [], false]);
    }
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=two', 'limit'],
  ])('%s is refused', async (query, param) => {
    const { status, json } = await get(account, `/v1/models?${query}`);
    expect([status, json]).toMatchObject([400, { error: { code: 'invalid_request', param } }]);
  });
});

describe('what is not offered', () => {
  test.each([
    ['GET', '/v1/responses/resp_1', 'Responses are not kept here'],
    ['DELETE', '/v1/responses/resp_1', 'Responses are not kept here'],
    ['POST', '/v1/responses/resp_1/cancel', 'Responses are not kept here'],
    ['GET', '/v1/responses/resp_1/input_items', 'Responses are not kept here'],
    ['POST', '/v1/responses/compact', 'Responses are not kept here'],
    ['POST', '/v1/conversations', 'Conversations are not kept here'],
    ['POST', '/responses', 'Nothing is served at /responses'],
    ['POST', '/v1/completions', 'Completions of bare prompts are not offered'],
    ['POST', '/v1/messages/batches', 'Batches are not offered'],
    ['POST', '/v1/embeddings', 'This service generates text'],
    ['POST', '/v1/images/generations', 'This service generates text'],
    ['POST', '/v1/audio/speech', 'This service generates text'],
    ['GET', '/v1/files', 'This service generates text'],
    ['POST', '/v1/v1/messages', 'Nothing is served at /v1/v1/messages'],
    ['POST', '/v1/responsestore', 'Nothing is served at /v1/responsestore'],
  ])('%s %s is refused', async (method, path, words) => {
    const headers = { authorization: `Bearer ${account.key}` };
    const answer = held(await fetch(`${account.url}${path}`, { method, headers }), method);
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code]).toEqual([404, 'not_found']);
    expect(error.message).toStartWith(words);
    expect(error.message).toMatch(/POST \/v1|base URL|by itself|with each request/);
  });

  test('Responses are not, where the operator leaves the format out', async () => {
    const catalog = catalogFor(upstream, ['ok']);
    const environment = { RESPONSES_FORMAT: 'off' };
    await using without = await startGateway({ catalog, environment });
    const caller = await without.createAccount();
    for (const path of ['/v1/responses', '/v1/responses/input_tokens', '/responses']) {
      const headers = { authorization: `Bearer ${caller.key}` };
      const answer = await fetch(caller.url + path, { method: 'POST', headers, body: '{}' });
      const { error } = (await answer.json()) as { error: { message: string } };
      expect([path, answer.status]).toEqual([path, 404]);
      expect(error.message).toStartWith('The Responses format is not offered');
    }
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
    const opened = await fetch(`${caller.url}/v1/responses`, { headers: upgrade });
    expect(opened.status).toBe(404);
    expect((await generate(caller, 'chat', 'ok')).status).toBe(200);
    const { json } = await get(caller, '/openapi.json');
    expect(Object.keys(json['paths'] as object).filter((path) => /responses/.test(path))).toEqual(
      [],
    );
  });
});

describe('a lower limit of one model', () => {
  test('is reported with the model and equals the one in the headers', async () => {
    const { json } = await get(account, '/v1/models/busy');
    expect(json).toMatchObject({
      status: 'degraded',
      limits: { requests_per_minute: 7, tokens_per_minute: null, concurrent_requests: null },
    });
    const answer = await generate(account, 'chat', 'busy', { max_tokens: 9 });
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('7');
    expect(answer.headers.get('x-ratelimit-limit-tokens')).toBe('200000');
  });
});

describe('keys and account', () => {
  test('a listed key never shows itself', async () => {
    const { status, json } = await get(account, '/v1/api-keys');
    expect([status, json]).toMatchObject([
      200,
      { object: 'list', data: [{ status: 'active' }], active_count: 1, active_limit: 5 },
    ]);
    expect(JSON.stringify(json)).not.toContain(account.key.slice(0, 20));
  });

  test('the account reports its limits and its balance', async () => {
    const { json } = await get(narrow, '/v1/account');
    expect(json).toMatchObject({
      id: narrow.id,
      object: 'account',
      email_verified: true,
      standing: 'active',
      plan: { slug: 'narrow' },
      limits: {
        requests_per_minute: 100_000,
        tokens_per_minute: 1_000_000_000,
        concurrent_requests: 1_000,
        max_context_tokens: 1_000,
        max_active_api_keys: 2,
        daily_tokens: null,
        monthly_tokens: null,
      },
      balance: { reserved: '0', unit: 'svc_token' },
      api_keys: { active: 1, limit: 2 },
    });
    const balance = json['balance'] as Record<string, string>;
    expect(balance['available']).toBe(balance['total'] ?? '');
  });

  test('an account lists its keys 60 times a minute, and others go on', async () => {
    const busy = await gateway.createAccount({ plan: 'narrow' });
    const ask = () => get(busy, '/v1/api-keys');
    const answers = await Promise.all(Array.from({ length: 200 }, ask));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(60);
    expect(refused[0]).toMatchObject({
      status: 429,
      json: { error: { code: 'rate_limit_exceeded' } },
    });
    expect((await get(busy, '/v1/account')).status).toBe(200);
    expect((await get(account, '/v1/api-keys')).status).toBe(200);
  });
});
