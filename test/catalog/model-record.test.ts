import { describe, expect, test } from 'bun:test';
import type { ModelInfo } from '@anthropic-ai/sdk/resources/models';
import type { Model as ChatModel } from 'openai/resources/models';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';
import {
  type ListedModel,
  type ModelPage,
  modelList,
  modelRecord,
} from '../../src/catalog/model-record.ts';

const NOW_MS = Date.UTC(2026, 2, 1);

const catalog = loadCatalog({
  text: `${DEMO_CATALOG}
incident_limits = { requests_per_minute = 9, concurrent_requests = 4 }
[plan.pro]
max_context = 64000
models = ["demo-chat"]
`.replace('usd_per_million = "1.00"', 'usd_per_million = "2.5"'),
  environment: {},
  nowMs: 0,
});
const [chat, reasoner] = catalog.models;
if (chat === undefined || reasoner === undefined) throw new Error('the demo has two models');

const CHAT_RATES = {
  version: chat.prices[0].price.version,
  input: '0.375',
  cached_input: '0.075',
  cache_write: '0.375',
  output: '1.5',
  svc_tokens: { input: '150000', cached_input: '30000', cache_write: '150000', output: '600000' },
};

describe('modelRecord', () => {
  test('has what both SDK families read', () => {
    const record: ListedModel = modelRecord(chat, catalog, {}, undefined, NOW_MS);
    const forChatClients: ChatModel = record;
    const forMessagesClients: ModelInfo = record;
    expect([forChatClients.id, forMessagesClients.id]).toEqual(['demo-chat', 'demo-chat']);
  });

  test('shows a model as it is', () => {
    expect(modelRecord(chat, catalog, {}, undefined, NOW_MS)).toEqual({
      id: 'demo-chat',
      object: 'model',
      type: 'model',
      created: 1_767_225_600,
      created_at: '2026-01-01T00:00:00Z',
      owned_by: 'tollgate',
      display_name: 'Demo Chat',
      description: 'Answers from inside this server. No language model is behind it.',
      aliases: ['demo'],
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
        reasoning: false,
        streaming: true,
        prompt_cache: true,
      },
      capabilities: null,
      reasoning: null,
      pricing: {
        currency: 'USD',
        unit: '1M_tokens',
        ...CHAT_RATES,
        next_change_at: null,
        schedule: [{ valid_from: null, ...CHAT_RATES, windows: [] }],
      },
      available: true,
      plans: ['pay-as-you-go', 'starter', 'pro', 'power', 'business'],
      on_disconnect: 'stops',
      status: 'active',
      lifecycle: 'active',
      line: null,
      limits: null,
      deprecation: null,
      deprecated_at: null,
      retires_at: null,
    });
  });

  test('shows a model as a plan sees it, with the lower of both incident limits', () => {
    const incident = { requestsPerMinute: 20, tokensPerMinute: 500, concurrentRequests: 1 };
    const record = modelRecord(
      reasoner,
      catalog,
      { plan: catalog.plans.get('pro') },
      incident,
      NOW_MS,
    );
    expect({
      available: record.available,
      effective: [record.effective_context, record.max_input_tokens, record.context_window],
      plans: record.plans,
      status: record.status,
      limits: record.limits,
      reasoning: record.reasoning,
    }).toEqual({
      available: false,
      effective: [64_000, 64_000, 128_000],
      plans: ['pay-as-you-go', 'starter', 'power', 'business'],
      status: 'degraded',
      limits: { requests_per_minute: 9, tokens_per_minute: 500, concurrent_requests: 1 },
      reasoning: {
        efforts: ['none', 'low', 'high', 'max'],
        default_effort: 'high',
        can_disable: true,
      },
    });
  });

  test('shows the catalog’s own incident limits alone, null where none is lowered', () => {
    expect(modelRecord(reasoner, catalog, {}, undefined, NOW_MS).limits).toEqual({
      requests_per_minute: 9,
      tokens_per_minute: null,
      concurrent_requests: 4,
    });
  });
});

describe('modelList', () => {
  test('is one page of every model, on every plan', () => {
    const plan = catalog.plans.get('pro');
    const incidents = new Map([['demo-chat', { requestsPerMinute: 1 }]]);
    const incidentOf = (slug: string) => incidents.get(slug);
    expect(modelList(catalog, { plan }, incidentOf, NOW_MS)).toEqual({
      object: 'list',
      data: [
        modelRecord(chat, catalog, { plan }, { requestsPerMinute: 1 }, NOW_MS),
        modelRecord(reasoner, catalog, { plan }, undefined, NOW_MS),
      ],
      has_more: false,
      first_id: 'demo-chat',
      last_id: 'demo-reasoner',
    });
  });

  const three = {
    ...catalog,
    models: ['a', 'b', 'c'].map((slug) => ({ ...chat, slug })),
  };
  test.each<[page: ModelPage, ids: string[], more: boolean]>([
    [{}, ['a', 'b', 'c'], false],
    [{ limit: 2 }, ['a', 'b'], true],
    [{ limit: 3 }, ['a', 'b', 'c'], false],
    [{ limit: 1, afterId: 'a' }, ['b'], true],
    [{ limit: 1, afterId: 'b' }, ['c'], false],
    [{ afterId: 'c' }, [], false],
    [{ limit: 1, beforeId: 'c' }, ['b'], true],
    [{ limit: 2, beforeId: 'c' }, ['a', 'b'], false],
    [{ beforeId: 'a' }, [], false],
    [{ afterId: 'gone' }, [], false],
    [{ beforeId: 'gone' }, [], false],
  ])('the page %j is %j, and more: %p', (page, ids, more) => {
    const list = modelList(three, {}, () => undefined, NOW_MS, page);
    expect({ ...list, data: list.data.map(({ id }) => id) }).toEqual({
      object: 'list',
      data: ids,
      has_more: more,
      first_id: ids.at(0) ?? null,
      last_id: ids.at(-1) ?? null,
    });
  });
});
