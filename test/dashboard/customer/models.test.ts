// The models as an account may use them: the data of /v1/models and the effective limits.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { ModelListRecord } from '../../../src/dashboard/records/model.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { type CustomerApp, openCustomerApp } from './app.ts';

const directory = temporaryDirectory();
describeOnEachDatabase('models and prices', () => {
  let app: CustomerApp;
  beforeAll(async () => {
    const catalog = '[plan.starter]\nmodels = ["demo-chat"]\nmax_context = 64000\n';
    app = await openCustomerApp(directory, { catalog });
  });
  afterAll(() => app.close());

  async function modelsOf(account: string): Promise<ModelListRecord> {
    const { status, json } = await app.get(account, '/models');
    expect(status).toBe(200);
    return json as unknown as ModelListRecord;
  }

  test('each says what the plan makes of it, and which plans have it', async () => {
    const { plan, plans, data } = await modelsOf(await app.customer({ plan: 'starter' }));
    expect(plan).toEqual({ slug: 'starter', name: 'Starter' });
    expect(plans.map(({ slug }) => slug)).toEqual([
      'pay-as-you-go',
      'starter',
      'pro',
      'power',
      'business',
    ]);
    const shown = data.map(({ id, available, effective_context, plans: having }) => {
      return { id, available, effective_context, plans: having.length };
    });
    expect(shown).toEqual([
      { id: 'demo-chat', available: true, effective_context: 64_000, plans: 5 },
      { id: 'demo-reasoner', available: false, effective_context: 64_000, plans: 4 },
    ]);
  });

  test('a key can be bound to the models of the plan alone', async () => {
    const namesOf = async (plan: string) =>
      (await app.get(await app.customer({ plan }), '/model-names')).json['data'];
    const chat = { slug: 'demo-chat', name: 'Demo Chat' };
    expect(await namesOf('starter')).toEqual([chat]);
    expect(await namesOf('pro')).toEqual([
      chat,
      expect.objectContaining({ slug: 'demo-reasoner' }),
    ]);
  });

  test('the effective limits are the lower of plan and incident', async () => {
    const account = await app.customer({ plan: 'pro' });
    const before = await modelsOf(account);
    const limits = {
      requests_per_minute: 300,
      tokens_per_minute: 1_000_000,
      concurrent_requests: 10,
    };
    expect(before.data[0]).toMatchObject({
      status: 'active',
      limits: null,
      effective_limits: limits,
    });
    const { incidentOf } = app.dependencies.serviceState();
    app.operate({ incidentOf: () => ({ requestsPerMinute: 7, concurrentRequests: 99 }) });
    const after = await modelsOf(account);
    expect(after.data[0]).toMatchObject({
      status: 'degraded',
      limits: { requests_per_minute: 7, tokens_per_minute: null, concurrent_requests: 99 },
      effective_limits: { ...limits, requests_per_minute: 7 },
    });
    app.operate({ incidentOf });
  });

  test('prices are the current ones per million tokens, with the next change', async () => {
    const { data } = await modelsOf(await app.customer());
    const [chat] = app.dependencies.serviceState().catalog.models;
    expect(data[0]?.pricing).toMatchObject({
      unit: '1M_tokens',
      input: '0.15',
      output: '0.6',
      svc_tokens: { input: '150000', output: '600000' },
      version: chat?.prices[0].price.version,
      next_change_at: null,
    });
  });
});
