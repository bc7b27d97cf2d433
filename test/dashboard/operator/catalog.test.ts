// The catalog in the console: models and their incident limits, prices from draft to publication,
// rejected catalogs, and sums over all accounts.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { utcMonth } from '../../../src/core/calendar.ts';
import { NO_USAGE } from '../../../src/core/usage.ts';
import type {
  CatalogRecord,
  CatalogTextRecord,
  PlansRecord,
  PreviewRecord,
  PriceBookRecord,
  PublishedRecord,
} from '../../../src/dashboard/records/operator-catalog.ts';
import type { OperatorModelsRecord } from '../../../src/dashboard/records/operator-model.ts';
import type { MoneyRecord } from '../../../src/dashboard/records/operator-money.ts';
import type { Ledger } from '../../../src/ledger/contract.ts';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import { archiveAll, live } from '../../operations/archive/past.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { addAccount, creditOf, holdOf, settleOf } from '../../support/ledger.ts';
import { awayFromMidnight } from '../../support/midnight.ts';
import { CATALOG, openMachineConsole } from './server-console.ts';

describeOnEachDatabase("the console's codes and prices", async () => {
  const root = temporaryDirectory();
  const open = await openMachineConsole(root);
  const builtIn = await openMachineConsole(root, { file: false });
  afterAll(async () => {
    await open.close();
    await builtIn.close();
  });

  const DAY_MS = 86_400_000;
  // TOML writes no trailing zeros, so the milliseconds are fixed.
  const LATER = new Date(Date.now() + 30 * DAY_MS).toISOString().replace(/\.\d+/, '.123');
  const ADD = { model: 'swift', valid_from: LATER, input: '0.30', output: '0.60' };
  let accountId: string;

  /** A request of now that used 100 input and 10 output tokens: 15 + 6 = 21 service tokens. */
  async function sell(ledger: Ledger, requestId: string, nowMs: number): Promise<void> {
    const price = open.live.current().resolve('swift-1')?.prices[0].price;
    if (price === undefined) throw new Error('no price');
    const charge = 21_000_000n;
    const served = { model: 'swift-1', upstream: 'demo', price };
    await ledger.hold({ ...holdOf(requestId, accountId, charge), price, nowMs });
    const usage = { ...NO_USAGE, inputTokens: 100, outputTokens: 10, basis: 'reported' } as const;
    const attempts = JSON.stringify([{ upstream: 'demo', usage, cost: '13' }]);
    await ledger.settle({ ...settleOf(requestId, charge), served, usage, attempts, nowMs });
  }

  beforeAll(async () => {
    await awayFromMidnight();
    const { accounts, ledger } = open.store;
    const account = { email: 'a@example.com', plan: 'pro', emailVerified: true };
    accountId = (await accounts.create(account, 'operator')).id;
    await ledger.credit({ ...creditOf('c', accountId, 100_000_000n), nowMs: Date.now() });
    await sell(ledger, 'req_1', Date.now());
    await sell(ledger, 'req_2', Date.now());
  });

  describe('models', () => {
    test('each has its places, its price of now and what it sold', async () => {
      const { models, forgotten } = await open.get<OperatorModelsRecord>('/models');
      expect(forgotten).toEqual([]);
      expect(models.map(({ id }) => id)).toEqual(['swift-1', 'swift-0']);
      expect(models[0]).toMatchObject({
        aliases: ['swift'],
        state: 'idle',
        incident: null,
        price: { input: '0.3', svc_tokens: { input: '150000' } },
        placements: [
          { upstream: 'demo', upstream_model: 'x', has_cost: true },
          {
            upstream: 'far',
            upstream_model: 'y',
            has_cost: false,
            profile: 'chat',
            profile_reason: 'the default of the dialect',
          },
        ],
        last_day: { requests: 2, failed: 0, output_tokens: 20, spent: '42', spent_usd: '0.000084' },
      });
      await open.post('/upstreams/far/disable', { reason: '' });
      const after = await open.get<OperatorModelsRecord>('/models');
      expect(after.models.map(({ state }) => state)).toEqual(['degraded', 'down']);
      await open.post('/upstreams/far/enable');
    });

    test('lower limits are set and cleared, by the alias too, and requests see them', async () => {
      const limits = { requests_per_minute: 3, concurrent_requests: 1, reason: 'slow' };
      const { json } = await open.ask('PUT', '/models/swift/incident', limits);
      expect(json).toMatchObject({ model: 'swift-1', ...limits, tokens_per_minute: null });
      expect(open.operators.current().incidentOf('swift-1')).toEqual({
        requestsPerMinute: 3,
        concurrentRequests: 1,
      });
      const { models } = await open.get<OperatorModelsRecord>('/models');
      expect(models[0]?.incident).toMatchObject({ requests_per_minute: 3, reason: 'slow' });
      expect((await open.ask('DELETE', '/models/swift-1/incident')).status).toBe(204);
      expect(open.operators.current().incidentOf('swift-1')).toBeUndefined();
      expect(await open.refusal('PUT', '/models/gone/incident', limits)).toEqual([
        404,
        'model_not_found',
      ]);
      expect(await open.refusal('PUT', '/models/swift/incident', { reason: '' })).toEqual([
        400,
        'no_limits',
      ]);
    });
  });

  test('money: what is owed, earned and left, with who spends it', async () => {
    const money = await open.get<MoneyRecord>('/money?days=7');
    expect(money).toMatchObject({
      step: 'day',
      balances: { accounts: 1, posted: '58', posted_usd: '0.000116', held: '0' },
      totals: { requests: 2, spent: '42', cost: '26', margin: '16', loss: '0', uncosted: 0 },
      models: [{ model: 'swift-1', input_tokens: 200, estimated_input_tokens: 200 }],
      holds: { open: 0, oldest: [] },
      largest_balances: [{ account_id: accountId, email: 'a@example.com', amount: '58' }],
      behind: 0,
    });
    expect([money.series.length, money.series.at(-1)?.spent]).toEqual([7, '42']);
    const day = await open.get<MoneyRecord>('/money?days=1');
    expect([day.step, day.series.length, day.totals.spent]).toEqual(['hour', 24, '42']);
    const hold = { ...holdOf('req_open', accountId, 5n), nowMs: Date.now() };
    // Another connection reads it.
    await (await open.store.ledger.hold(hold)).written.wait();
    const { holds } = await open.get<MoneyRecord>('/money');
    expect(holds).toMatchObject({ open: 1, oldest: [{ request_id: 'req_open', phase: 'held' }] });
    const spenders = await open.get<{ data: unknown }>('/money/spenders?days=7');
    // What is not added up yet is not in it.
    expect(spenders.data).toEqual([]);
    await createRollUp(open.store.database).step(100);
    const later = await open.get<{ data: unknown }>('/money/spenders?days=90');
    expect(later.data).toEqual([
      { account_id: accountId, email: 'a@example.com', amount: '42', amount_usd: '0.000084' },
    ]);
    expect(await open.refusal('GET', '/money?days=8')).toEqual([400, 'invalid_request']);
  });

  describe('prices', () => {
    const textOf = async (from: typeof open) =>
      (await from.get<CatalogTextRecord>('/catalog/text')).text;
    /** The text with a draft in it. */
    const drafted = async (draft: object, from = open) => {
      const { json } = await from.post('/prices/draft', { ...draft, text: await textOf(from) });
      return String(json['text']);
    };

    test('a draft becomes text, unless it is none of a later price', async () => {
      const text = await drafted({ add: [ADD] });
      expect(text).toContain(`[[model.prices]]\nvalid_from = ${LATER}`);
      const book = await open.get<PriceBookRecord>('/prices');
      expect(book.file).toMatchObject({ path: open.path, in_force: true, not_writable: null });
      const odd = [
        { ...ADD, model: 'gone' },
        { ...ADD, valid_from: '2020-01-01T00:00:00Z' },
        { ...ADD, input: '1e3' },
        { ...ADD, more: 1 },
        { ...ADD, valid_from: 'soon' },
      ];
      for (const add of odd) {
        expect(await open.refusal('POST', '/prices/draft', { add: [add], text })).toEqual([
          400,
          'invalid_request',
        ]);
      }
    });

    test('the draft is tried on past requests, as if it had begun', async () => {
      const month = new Date(utcMonth(Date.now()).fromMs).toISOString().slice(0, 7);
      const text = await drafted({ add: [ADD] });
      const { status, json } = await open.post('/prices/preview', { text, month });
      const preview = json as PreviewRecord;
      // 100 × 0.30 + 10 × 0.60 = 36 in the place of 21, twice.
      expect([status, preview.prices_at, preview.totals]).toEqual([
        200,
        LATER,
        {
          ...{ requests: 2, without_draft: '42', would_be: '72', difference: '30' },
          // The revenue changes, the cost of 26 does not.
          ...{ margin: '46', margin_without_draft: '16' },
        },
      ]);
      const last = (await open.post('/prices/preview', { text })).json as PreviewRecord;
      expect(last.totals.requests).toBe(0);
      const bad = { text: text.replace('0.30', 'cheap') };
      expect(await open.refusal('POST', '/prices/preview', bad)).toEqual([400, 'invalid_request']);
    });

    test('a month whose requests are archived is not calculated', async () => {
      const { store, directory } = builtIn;
      await addAccount(store, 'acct_ada');
      const nowMs = Date.UTC(2026, 4, 20);
      const events = (['credit', 'settle'] as const).map((what) => {
        return { account: 0, what, afterHours: 0 };
      });
      await live(store, events, nowMs);
      const text = await drafted({ add: [{ ...ADD, model: 'demo' }] }, builtIn);
      const preview = { text, month: '2026-05' };
      expect((await builtIn.post('/prices/preview', preview)).status).toBe(200);
      await archiveAll(store, join(directory, 'archive'), nowMs + 60 * DAY_MS);
      expect(await builtIn.refusal('POST', '/prices/preview', preview)).toEqual([
        410,
        'requests_archived',
      ]);
      const later = { ...preview, month: '2026-07' };
      expect((await builtIn.post('/prices/preview', later)).status).toBe(200);
    });

    test('publishes into the file, and withdraws', async () => {
      const publish = async (text: string) => {
        const { based_on } = await open.get<CatalogTextRecord>('/catalog/text');
        return (await open.post('/catalog/text/publish', { text, based_on })).json;
      };
      const published = (await publish(await drafted({ add: [ADD] }))) as PublishedRecord;
      expect([published.in_force, published.problems]).toEqual([true, []]);
      expect(readFileSync(published.backup, 'utf8')).toBe(CATALOG);
      expect(readFileSync(open.path, 'utf8')).toContain('# the small one');
      const book = await open.get<PriceBookRecord>('/prices');
      expect(
        book.models[0]?.prices.map(({ valid_from, in_force }) => [valid_from, in_force]),
      ).toEqual([
        [null, true],
        [LATER, false],
      ]);
      // What is scheduled already is no part of the next draft.
      const month = new Date(utcMonth(Date.now()).fromMs).toISOString().slice(0, 7);
      const text = await drafted({ add: [{ ...ADD, model: 'swift-0' }] });
      const preview = (await open.post('/prices/preview', { text, month })).json as PreviewRecord;
      expect([preview.prices_at, preview.models, preview.totals.difference]).toEqual([
        ...[LATER, [], '0'],
      ]);
      expect(preview.totals.without_draft).toBe('72');
      const withdraw = [{ model: 'swift-1', valid_from: LATER }];
      expect((await publish(await drafted({ withdraw })))['in_force']).toBe(true);
      expect(readFileSync(open.path, 'utf8')).toBe(CATALOG);
    });

    test('the built-in catalog has no file, and says so', async () => {
      const book = await builtIn.get<PriceBookRecord>('/prices');
      expect(book.file.path).toBeNull();
      expect(book.file.not_writable?.text).toStartWith('The built-in demonstration catalog');
      expect(readdirSync(builtIn.directory)).not.toContain('catalog.toml');
    });
  });

  describe('the catalog', () => {
    test('a broken file is checked without being taken, then refused with its reasons', async () => {
      await open.stopWatching();
      open.write(CATALOG.replace('output = "0.60"', 'output = "cheap"'));
      const problem = expect.objectContaining({
        values: expect.objectContaining({ path: 'model[0].price.output' }),
      });
      const check = (await open.post('/catalog/check')).json;
      expect(check).toEqual({ ok: false, digest: null, problems: [problem] });
      expect((await open.get<CatalogRecord>('/catalog')).refused).toBeNull();
      const { version } = open.live.status();
      const reloaded = (await open.post('/catalog/reload')).json;
      expect(reloaded).toMatchObject({ version, refused: { problems: [problem] } });
      open.write(CATALOG);
      const good = (await open.post('/catalog/reload')).json;
      expect(good).toMatchObject({
        ...{ version: version + 1, refused: null, origin: 'file', path: open.path },
        ...{ models: 2, upstreams: 2 },
      });
      expect(good['digest']).toBe(good['digest_on_disk']);
      const { plans } = await open.get<PlansRecord>('/catalog/plans');
      expect(plans.find(({ id }) => id === 'pro')?.accounts).toBe(1);
      expect(good['plans']).toBe(plans.length);
      expect((await open.events()).at(-1)?.action).toBe('catalog.reload_requested');
    });
  });
});
