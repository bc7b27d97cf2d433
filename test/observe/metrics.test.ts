// The metrics of a process, as a scraper reads them: what is counted, that histograms add up, and
// that no caller can create series.

import { describe, expect, test } from 'bun:test';
import type { UpstreamState } from '../../src/core/health.ts';
import { micro } from '../../src/core/money.ts';
import type { GaugeSources } from '../../src/observe/gauges.ts';
import { createMetrics, type Metrics } from '../../src/observe/metrics.ts';
import { parseMetrics, type Series, sumOf } from '../support/metrics.ts';
import { ANSWER, REFUSED, SERVED } from './summaries.ts';

const SOURCES: Omit<GaugeSources, 'catalogsRefused'> = {
  requestsInFlight: () => 3,
  streamsOpen: () => 2,
  upstreams: () => [],
  warnings: () => 5,
  ledgerPending: () => 7,
  openHolds: async () => ({ count: 4, amount: micro(2_500_000n) }),
  auditDifferences: () => 1,
  catalog: () => ({ version: 3, loadedAt: 1_700_000_000_000 }),
  limits: () => ({
    ...{ mode: 'cluster', redis: 'up', leased: 90, exchanged: 8, shared: 2 },
    ...{ commands: 12, failures: 3 },
  }),
  backups: undefined,
  retention: undefined,
};

async function scrape(metrics: Metrics): Promise<readonly Series[]> {
  return parseMetrics((await metrics.print()).text);
}

/** The series of that name, as label values and number. */
function seriesOf(all: readonly Series[], name: string): unknown[] {
  return all
    .filter((series) => series.name === name)
    .map(({ labels, value }) => [...Object.values(labels), value]);
}

test('the archive is measured by its problems and by the age of its last good run', async () => {
  const STATE = { succeeded: 3, failed: 1, archived: 20, removed: 15 };
  async function read(state: { isFailing: boolean; ageMs: number | undefined }) {
    const metrics = createMetrics({ version: '1' });
    metrics.watch({ ...SOURCES, retention: () => ({ ...STATE, ...state }) });
    return (await scrape(metrics))
      .filter(({ name }) => name.startsWith('tollgate_archive'))
      .map(({ name, labels, value }) => [name, ...Object.values(labels), value]);
  }
  const counts = [
    ['tollgate_archive_runs_total', 'succeeded', 3],
    ['tollgate_archive_runs_total', 'failed', 1],
    ['tollgate_archive_requests_total', 'archived', 20],
    ['tollgate_archive_requests_total', 'removed', 15],
  ];
  expect(await read({ isFailing: true, ageMs: 60_000 })).toEqual([
    ['tollgate_archive_failing', 1],
    ['tollgate_archive_age_seconds', 60],
    ...counts,
  ]);
  expect(await read({ isFailing: false, ageMs: undefined })).toEqual([
    ['tollgate_archive_failing', 0],
    ...counts,
  ]);
});

describe('backups', () => {
  const STATE = { kept: 7, made: 2, failed: 1, bytes: 4_096, seconds: 1.5 };

  async function read(newestMs: number | undefined): Promise<unknown[]> {
    const metrics = createMetrics({ version: '1' });
    metrics.watch({ ...SOURCES, backups: () => ({ ...STATE, newestMs }) });
    return (await scrape(metrics))
      .filter(({ name }) => name.startsWith('tollgate_backup'))
      .map(({ name, labels, value }) => [name, ...Object.values(labels), Math.round(value)]);
  }

  const REST = [
    ['tollgate_backups_kept', 7],
    ['tollgate_backup_bytes', 4_096],
    ['tollgate_backup_duration_seconds', 2],
    ['tollgate_backups_total', 'made', 2],
    ['tollgate_backups_total', 'failed', 1],
  ];

  test('are measured by the age of the newest verified one, which is absent without one', async () => {
    expect(await read(Date.now() - 60_000)).toEqual([['tollgate_backup_age_seconds', 60], ...REST]);
    expect(await read(undefined)).toEqual(REST);
  });

  test('have no metrics where the server makes none', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.watch(SOURCES);
    expect((await metrics.print()).text).not.toContain('tollgate_backup');
  });
});

describe('a request', () => {
  test('is counted by what it was, cost and used', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.request(SERVED);
    metrics.request(SERVED);
    metrics.request(REFUSED);
    const all = await scrape(metrics);
    expect(seriesOf(all, 'tollgate_requests_total')).toEqual([
      ['messages', 'messages', 'swift-1', '2xx', 'none', 2],
      ['chat_completions', 'chat', 'unknown', '4xx', 'invalid_api_key', 1],
    ]);
    expect(seriesOf(all, 'tollgate_answers_total')).toEqual([
      ['swift-1', 'messages', 'stream', 'completed', 'yes', 2],
    ]);
    expect(seriesOf(all, 'tollgate_tokens_total')).toEqual([
      ['swift-0', 'input', 200],
      ['swift-0', 'cached_input', 120],
      ['swift-0', 'cache_write', 20],
      ['swift-0', 'output', 40],
      ['swift-0', 'reasoning', 10],
    ]);
    expect(seriesOf(all, 'tollgate_debited_service_tokens_total')).toEqual([['swift-0', 3]]);
    expect(seriesOf(all, 'tollgate_upstream_attempts_total')).toEqual([
      ['alpha', 'swift-1', 'timeout', 2],
      ['beta', 'swift-0', 'served', 2],
    ]);
    expect(seriesOf(all, 'tollgate_upstream_skipped_total')).toEqual([
      ['gamma', 'swift-1', 'overloaded', 2],
    ]);
    expect(sumOf(all, 'tollgate_upstream_cost_service_tokens_total')).toBe(1.5);
    expect(sumOf(all, 'tollgate_upstream_attempt_seconds_count')).toBe(4);
    expect(seriesOf(all, 'tollgate_upstream_first_byte_seconds_sum')).toEqual([
      ['alpha', 'swift-1', 0],
      ['gamma', 'swift-1', 0],
      ['beta', 'swift-0', 0.0805],
    ]);
    expect(sumOf(all, 'tollgate_answer_seconds_bucket', { le: '1' })).toBe(0);
    expect(sumOf(all, 'tollgate_answer_seconds_bucket', { le: '2.5' })).toBe(2);
    expect(sumOf(all, 'tollgate_estimate_ratio_sum')).toBeCloseTo((2 * 100) / 90);
  });

  test('that was doubted or lost money is graphed by its model, and not as an estimate', async () => {
    const metrics = createMetrics({ version: '1' });
    const usage = { ...ANSWER.usage, basis: 'estimated', doubt: 'implausible' } as const;
    metrics.request({ ...SERVED, answer: { ...ANSWER, usage, loss: micro(250_000n) } });
    const all = await scrape(metrics);
    expect(seriesOf(all, 'tollgate_doubted_usage_total')).toEqual([['swift-0', 'implausible', 1]]);
    expect(seriesOf(all, 'tollgate_lost_service_tokens_total')).toEqual([['swift-0', 0.25]]);
    expect(sumOf(all, 'tollgate_estimate_ratio_count')).toBe(0);
  });

  test('makes no series of its own, for any method and path', async () => {
    const metrics = createMetrics({ version: '1' });
    for (let index = 0; index < 1_000; index += 1) {
      const names = {
        requestId: `req_${index}`,
        accountId: `acct_${index}`,
        keyId: `key_${index}`,
      };
      metrics.request({ ...SERVED, ...names });
      metrics.request({ ...REFUSED, ...names });
    }
    const { text } = await metrics.print();
    const all = parseMetrics(text);
    expect(all.length).toBeLessThan(250);
    expect(sumOf(all, 'tollgate_requests_total')).toBe(2_000);
    expect(text).not.toMatch(/acct_|key_\d|req_/);
  });
});

test('what is looked up is what is there at the time of the scrape', async () => {
  const metrics = createMetrics({ version: '1' });
  let states: readonly UpstreamState[] = [
    {
      upstream: 'alpha',
      inFlight: 5,
      queued: 1,
      credentials: [
        { id: '1', state: 'disabled', status: 401 },
        { id: '2', state: 'ok' },
      ],
      models: [
        { model: 'swift-1', breaker: 'open' },
        { model: 'swift-0', breaker: 'half_open', disabled: true },
      ],
    },
  ];
  metrics.watch({ ...SOURCES, upstreams: () => states });
  metrics.alert({ kind: 'catalog_refused', problems: 2 });
  metrics.alert({ kind: 'ledger_failing', trouble: 'kept', requestId: 'req_1' });
  metrics.batch(3, 4);
  metrics.webhook('failed');
  metrics.loopLag(0.02);
  const all = await scrape(metrics);
  expect(seriesOf(all, 'tollgate_upstream_in_flight')).toEqual([['alpha', 5]]);
  expect(seriesOf(all, 'tollgate_upstream_queued')).toEqual([['alpha', 1]]);
  expect(seriesOf(all, 'tollgate_upstream_credential_disabled')).toEqual([
    ['alpha', '1', 1],
    ['alpha', '2', 0],
  ]);
  expect(seriesOf(all, 'tollgate_upstream_breaker')).toEqual([
    ['alpha', 'swift-1', 2],
    ['alpha', 'swift-0', 1],
  ]);
  expect(seriesOf(all, 'tollgate_upstream_out_of_service')).toEqual([
    ['alpha', 'swift-1', 0],
    ['alpha', 'swift-0', 1],
  ]);
  const values = Object.fromEntries(
    [
      'tollgate_requests_in_flight',
      'tollgate_streams_open',
      'tollgate_ledger_pending',
      'tollgate_holds_open',
      'tollgate_holds_open_service_tokens',
      'tollgate_audit_differences',
      'tollgate_catalog_loaded_timestamp_seconds',
      'tollgate_catalog_refused',
      'tollgate_ledger_batch_commands_sum',
      'tollgate_ledger_commit_seconds_sum',
      'tollgate_event_loop_lag_seconds_count',
    ].map((name) => [name.replace('tollgate_', ''), sumOf(all, name)]),
  );
  expect(values).toEqual({
    requests_in_flight: 3,
    streams_open: 2,
    ledger_pending: 7,
    holds_open: 4,
    holds_open_service_tokens: 2.5,
    audit_differences: 1,
    catalog_loaded_timestamp_seconds: 1_700_000_000,
    catalog_refused: 0,
    ledger_batch_commands_sum: 3,
    ledger_commit_seconds_sum: 0.004,
    event_loop_lag_seconds_count: 1,
  });
  expect(seriesOf(all, 'tollgate_limits_mode')).toEqual([
    ['own', 0],
    ['cluster', 1],
    ['share', 0],
  ]);
  expect(seriesOf(all, 'tollgate_limits_decisions_total')).toEqual([
    ['lease', 90],
    ['exchange', 8],
    ['share', 2],
  ]);
  expect(seriesOf(all, 'tollgate_redis_up')).toEqual([[1]]);
  expect(seriesOf(all, 'tollgate_redis_commands_total')).toEqual([
    ['answered', 9],
    ['failed', 3],
  ]);
  expect(seriesOf(all, 'tollgate_catalog_reloads_total')).toEqual([
    ['accepted', 2],
    ['refused', 1],
  ]);
  expect(seriesOf(all, 'tollgate_alerts_total')).toEqual([
    ['catalog_refused', 1],
    ['ledger_failing', 1],
  ]);
  expect(seriesOf(all, 'tollgate_ledger_failures_total')).toEqual([['kept', 1]]);
  expect(seriesOf(all, 'tollgate_alert_webhooks_total')).toEqual([['failed', 1]]);
  expect(sumOf(all, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
  expect(sumOf(all, 'process_cpu_seconds_total')).toBeGreaterThan(0);

  states = [];
  expect(seriesOf(await scrape(metrics), 'tollgate_upstream_in_flight')).toEqual([]);
});

test('two servers in one process share no series', async () => {
  const [one, two] = [createMetrics({ version: '1' }), createMetrics({ version: '2' })];
  one.watch(SOURCES);
  two.watch(SOURCES);
  one.request(SERVED);
  expect(sumOf(await scrape(two), 'tollgate_requests_total')).toBe(0);
});

test('repeats with an Idempotency-Key are counted by what they got, and no other request is', async () => {
  const metrics = createMetrics({ version: '1' });
  metrics.request({ ...SERVED, replayOf: 'req_first' });
  metrics.request({ ...SERVED, replayOf: 'req_first' });
  metrics.request({ ...REFUSED, status: 422, code: 'idempotency_key_reused' });
  metrics.request({ ...REFUSED, status: 409, code: 'idempotent_request_running' });
  metrics.request({ ...REFUSED, status: 410, code: 'idempotent_answer_lost' });
  metrics.request(SERVED);
  metrics.request(REFUSED);
  const all = await scrape(metrics);
  expect(seriesOf(all, 'tollgate_repeats_total')).toEqual([
    ['replayed', 2],
    ['reused', 1],
    ['running', 1],
    ['lost', 1],
  ]);
});
