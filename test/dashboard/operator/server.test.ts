// The server in the console: its overview and feed, its upstreams, its audit, its nodes; what needs
// the password again; and that no upstream key is ever shown.

import { afterAll, expect, test } from 'bun:test';
import type { FailureClass, UpstreamFailure } from '../../../src/core/failure.ts';
import { micro } from '../../../src/core/money.ts';
import { wordsOf } from '../../../src/core/sentence.ts';
import { NO_USAGE } from '../../../src/core/usage.ts';
import type { OperatorModelsRecord } from '../../../src/dashboard/records/operator-model.ts';
import type {
  AlertRecord,
  MachineRecord,
  OpenRecord,
  OperatorOverviewRecord,
  UpstreamDetailRecord,
  UpstreamsRecord,
} from '../../../src/dashboard/records/operator-server.ts';
import type { SpeedsRecord } from '../../../src/dashboard/records/speeds.ts';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { creditOf, holdOf } from '../../support/ledger.ts';
import { waitUntil } from '../../support/upstream.ts';
import { addRecords, usageRecord } from '../../support/usage.ts';
import { NODES, OPERATOR, openMachineConsole, SECRETS } from './server-console.ts';

describeOnEachDatabase("the console's view of the server", async () => {
  const open = await openMachineConsole(temporaryDirectory());
  afterAll(open.close);

  const SERVER_ERROR: UpstreamFailure = { class: 'server_error', detail: 'no' };

  function fail(model: string, upstream: string, times: number, failure = SERVER_ERROR): void {
    for (let turn = 0; turn < times; turn += 1) {
      const entry = open.health.enter(open.candidate(model, upstream), { kind: 'first' });
      if (entry.kind !== 'permit') throw new Error('no permit');
      entry.end(failure);
    }
  }

  const said = ({ problems }: OpenRecord) => problems.map(wordsOf);
  const upstreams = async () => (await open.get<UpstreamsRecord>('/upstreams')).upstreams;
  const statesOf = async () => (await upstreams()).map(({ state }) => state);

  test('what operators change needs the password again', async () => {
    const locked = await openMachineConsole(temporaryDirectory());
    locked.forgetProof();
    const writes: readonly (readonly [string, string, object?])[] = [
      ['POST', '/upstreams/far/disable', { reason: '' }],
      ['POST', '/upstreams/far/enable'],
      ['POST', '/upstreams/far/reset'],
      ['PUT', '/models/swift-1/incident', { requests_per_minute: 1, reason: '' }],
      ['DELETE', '/models/swift-1/incident'],
      ['POST', '/catalog/text/publish', { text: '', based_on: '' }],
      ['POST', '/catalog/reload'],
      ['POST', '/self-audit/run'],
    ];
    for (const [method, path, body] of writes) {
      expect([path, ...(await locked.refusal(method, path, body))]).toEqual([
        path,
        403,
        'step_up_required',
      ]);
    }
    expect(await locked.events()).toEqual([]);
    await locked.close();
  });

  test('an upstream is taken out of service and put back, wholly and for one model', async () => {
    expect(await statesOf()).toEqual(['idle', 'idle']);
    expect((await open.post('/upstreams/far/disable', { reason: 'moving' })).status).toBe(204);
    expect(open.operators.current().isDisabled('far', 'swift-0')).toBe(true);
    const [, far] = await upstreams();
    expect(far).toMatchObject({
      id: 'far',
      state: 'disabled',
      disabled: { reason: 'moving' },
      models: [
        { model: 'swift-1', upstream_model: 'y', disabled: true, disabled_reason: null },
        { model: 'swift-0', upstream_model: 'z', disabled: true, disabled_reason: null },
      ],
    });
    const { live } = await open.get<OperatorOverviewRecord>('/overview');
    expect([live.upstreams, said(live.open)]).toEqual([
      { healthy: 0, idle: 1, degraded: 0, down: 0, disabled: 1 },
      ['upstream far is out of service'],
    ]);
    await open.post('/upstreams/far/enable');
    await open.post('/upstreams/far/disable', { model: 'swift', reason: 'slow' });
    expect((await upstreams())[1]).toMatchObject({
      state: 'degraded',
      disabled: null,
      models: [{ model: 'swift-1', disabled: true, disabled_reason: 'slow' }, { disabled: false }],
    });
    await open.post('/upstreams/far/enable', { model: 'swift-1' });
    expect(await statesOf()).toEqual(['idle', 'idle']);
    const trail = (await open.events()).map(({ action, actor, address }) => [
      action,
      actor,
      address,
    ]);
    const who = [`operator:${OPERATOR}`, '203.0.113.7'];
    expect(trail).toEqual([
      ['upstream.disabled', ...who],
      ['upstream.enabled', ...who],
      ['upstream.disabled', ...who],
      ['upstream.enabled', ...who],
    ]);
    expect([
      await open.refusal('POST', '/upstreams/gone/disable', { reason: '' }),
      await open.refusal('POST', '/upstreams/demo/disable', { model: 'swift-0', reason: '' }),
      await open.refusal('GET', '/upstreams/gone'),
    ]).toEqual([
      [404, 'upstream_not_found'],
      [404, 'model_not_found'],
      [404, 'not_found'],
    ]);
  });

  test('breakers and credentials are seen, and forgotten when the operator says so', async () => {
    fail('swift-0', 'far', 5);
    fail('swift-1', 'far', 1, { class: 'credential', detail: 'no', status: 401 });
    const read = () => open.get<UpstreamDetailRecord>('/upstreams/far');
    // It is open once the gateway's own request has failed, too.
    await waitUntil(async () => (await read()).models.some(({ breaker }) => breaker === 'open'));
    const far = await read();
    expect(far.state).toBe('degraded');
    expect(far.models.map(({ model, breaker }) => [model, breaker])).toEqual([
      ['swift-1', 'closed'],
      ['swift-0', 'open'],
    ]);
    expect(far.credentials.map(({ id, state, status }) => [id, state, status])).toEqual([
      ['1', 'ok', null],
      ['2', 'disabled', 401],
    ]);
    const { live } = await open.get<OperatorOverviewRecord>('/overview');
    expect(live.upstreams.degraded).toBe(1);
    const causes = said(live.open);
    expect(causes).toContain('upstream far fails for swift-0');
    // The alert is about a listed cause, so it is not counted again.
    expect(causes.join()).not.toContain('circuit breaker');
    expect(live.alerts.open).toBe(1);
    expect(live.alerts.latest).toContainEqual({
      ...{ id: expect.stringMatching(/^alrt_/), object: 'alert', open: true, count: 1 },
      ...{ first_at: expect.any(String), last_at: expect.any(String), acknowledged: null },
      kind: 'breaker_opened',
      message: 'upstream far fails for swift-0; its circuit breaker is open',
      sentence: expect.objectContaining({ about: 'upstreams/far' }),
      request_id: null,
    });
    const [alert] = (await open.get<{ data: AlertRecord[] }>('/alerts')).data;
    const acknowledge = (last_at: unknown) =>
      open.post(`/alerts/${alert?.id}/acknowledge`, { last_at });
    expect((await acknowledge('today')).status).toBe(400);
    expect((await acknowledge('2020-01-01T00:00:00Z')).json).toMatchObject({
      error: { code: 'alert_raised_again' },
    });
    expect((await acknowledge(alert?.last_at)).json).toMatchObject({
      open: false,
      acknowledged: { by: `operator:${OPERATOR}` },
    });
    expect(said(await open.get<OpenRecord>('/open'))).toEqual(causes);
    expect((await open.post('/upstreams/far/reset')).status).toBe(204);
    expect(said(await open.get<OpenRecord>('/open'))).toEqual([]);
    expect(await statesOf()).toEqual(['idle', 'idle']);
  });

  test('failed attempts are listed with their upstream, by minute and one by one', async () => {
    const at = Date.now();
    const usage = { ...NO_USAGE, inputTokens: 5, outputTokens: 9, basis: 'reported' } as const;
    const attempt = { model: 'swift-1', credential: '2', startedAt: at - 30, endedAt: at };
    open.activity.request({
      ...{ requestId: 'req_7', route: 'messages', format: 'messages', status: 200, durationMs: 50 },
      answer: {
        ...{ modelServed: 'swift-1', upstream: 'demo', fallbackUsed: false, outcome: 'completed' },
        ...{ usage, promptTokens: 5, debited: micro(1n), loss: micro(0n) },
        attempts: [
          { ...attempt, upstream: 'far', failure: 'timeout' },
          { ...attempt, upstream: 'demo' },
        ],
      },
    });
    const far = await open.get<UpstreamDetailRecord>('/upstreams/far');
    expect(far.failures).toEqual([
      {
        at: new Date(at).toISOString(),
        request_id: 'req_7',
        model: 'swift-1',
        credential: '2',
        failure: 'timeout',
        duration_ms: 30,
      },
    ]);
    expect([far.last_hour, far.minutes.length]).toEqual([
      { attempts: 1, failed: 1, output_tokens: 0 },
      60,
    ]);
    const demo = await open.get<UpstreamDetailRecord>('/upstreams/demo');
    expect([demo.last_hour, demo.failures]).toEqual([
      { attempts: 1, failed: 0, output_tokens: 9 },
      [],
    ]);
  });

  test('what fails is not healthy on any page, even if its breaker is closed', async () => {
    const own = await openMachineConsole(temporaryDirectory());
    const end = (failure?: FailureClass) => {
      const attempt = { upstream: 'far', model: 'swift-0', credential: '1', startedAt: 0 };
      own.activity.request({
        ...{ requestId: 'req_1', route: 'messages', format: 'messages', status: 200 },
        durationMs: 1,
        answer: {
          ...{ modelServed: 'swift-0', upstream: undefined, fallbackUsed: false },
          ...{ outcome: 'completed', promptTokens: 5, debited: micro(0n), loss: micro(0n) },
          usage: { ...NO_USAGE, basis: 'estimated' },
          attempts: [{ ...attempt, endedAt: 1, ...(failure && { failure }) }],
        },
      });
    };
    const states = async () => {
      const { upstreams } = await own.get<UpstreamsRecord>('/upstreams');
      const { models } = await own.get<OperatorModelsRecord>('/models');
      const { live } = await own.get<OperatorOverviewRecord>('/overview');
      return {
        far: upstreams.find(({ id }) => id === 'far')?.state as string,
        model: models.find(({ id }) => id === 'swift-0')?.state as string,
        troubled: live.upstreams.degraded,
        warnings: said(live.open),
      };
    };
    const idle = { far: 'idle', model: 'idle', troubled: 0, warnings: [] as string[] };
    const healthy = { ...idle, far: 'healthy', model: 'healthy' };
    const failing = {
      ...({ far: 'degraded', model: 'down', troubled: 1 } as const),
      warnings: ['upstream far fails for swift-0'],
    };
    end('server_error');
    end('server_error');
    expect(await states()).toEqual(idle);
    end('server_error');
    expect(await states()).toEqual(failing);
    end();
    expect(await states()).toEqual(healthy);
    for (let times = 0; times < 3; times += 1) end('bad_request');
    expect(await states()).toEqual({
      ...failing,
      model: 'degraded',
      warnings: [],
    });
    await own.post('/upstreams/far/reset');
    expect(await states()).toEqual(idle);
    await own.close();
  });

  test('all balances together may exceed 64 bits', async () => {
    const own = await openMachineConsole(temporaryDirectory());
    for (let number = 0; number < 10; number += 1) {
      const email = `rich-${number}@example.com`;
      const { id } = await own.store.accounts.create(
        { email, plan: 'pro', emailVerified: true },
        'operator',
      );
      await own.store.ledger.credit(creditOf(`rich-${number}`, id, 10n ** 18n - 1n));
    }
    const { live } = await own.get<OperatorOverviewRecord>('/overview');
    expect([live.balances.accounts, live.balances.posted]).toEqual([10, '9999999999999.99999']);
    await own.close();
  });

  test('an upstream has percentiles and classes of failures, a model those of all upstreams', async () => {
    const own = await openMachineConsole(temporaryDirectory());
    const startedAt = Date.now() - 1_000;
    const attempt = { upstream: 'far', model: 'swift-1', credential: '1', startedAt };
    const attempts = [
      { ...attempt, endedAt: startedAt + 10, failure: 'overloaded' },
      { ...attempt, endedAt: startedAt + 500, firstContentMs: 100 },
      { ...attempt, upstream: 'demo', endedAt: startedAt + 9, failure: 'cut' },
    ];
    await addRecords(own.store.database, [
      usageRecord({ startedAt, attempts: JSON.stringify(attempts) }),
    ]);
    await createRollUp(own.store.database).step(10);
    const far = await own.get<SpeedsRecord>('/upstreams/far/speeds?days=1');
    expect(far.points).toMatchObject([{ requests: 2, failed: 1, failures: { overloaded: 1 } }]);
    expect(far.total).toMatchObject({ first_token_ms_p50: 103, duration_ms_p95: 490 });
    const model = await own.get<SpeedsRecord>('/models/swift-1/speeds?days=30');
    expect(model.points).toMatchObject([
      { requests: 3, failed: 2, failures: { overloaded: 1, cut: 1 } },
    ]);
    expect(await own.refusal('GET', '/upstreams/gone/speeds')).toEqual([404, 'not_found']);
    await own.close();
  });

  test('the overview and its feed show active requests, balances and problems', async () => {
    const { accounts, ledger } = open.store;
    const { id } = await accounts.create(
      { email: 'a@example.com', plan: 'pro', emailVerified: true },
      'operator',
    );
    await ledger.credit(creditOf('c', id, 5_000_000n));
    await ledger.hold({ ...holdOf('req_1', id, 2_000_000n), nowMs: Date.now() });
    open.trouble(['the ledger is behind']);
    const fresh = await openMachineConsole(temporaryDirectory());
    expect((await fresh.get<OperatorOverviewRecord>('/overview')).live.open.status).toBe('ready');
    await fresh.close();
    const { version, live } = await open.get<OperatorOverviewRecord>('/overview');
    expect(version).toBe('1.0.0+test');
    expect(live).toMatchObject({
      open: { status: 'not_ready', problems: [{ text: 'the ledger is behind' }] },
      ...{ in_flight: 3, streams_open: 2, ledger_pending: 1 },
      holds: { open: 1, reserved: '2', reserved_usd: '0.000004' },
      catalog: { version: 1, origin: 'file', refused: false },
      maintenance: { on: false, message: null },
    });
    expect(live.minutes).toHaveLength(60);
    expect(live.minutes.at(-1)?.requests).toBeLessThanOrEqual(1);

    const leave = new AbortController();
    const response = await open.open('GET', '/feed', undefined, { signal: leave.signal });
    const [chunk] = await Array.fromAsync(firstOf(response));
    leave.abort();
    const data = /^data: (.*)$/m.exec(new TextDecoder().decode(chunk))?.[1] ?? '{}';
    const record = JSON.parse(data) as MachineRecord;
    expect([record.open, record.holds, record.in_flight]).toEqual([live.open, live.holds, 3]);
  });

  async function* firstOf(response: Response): AsyncGenerator<Uint8Array> {
    for await (const chunk of response.body ?? []) {
      yield chunk;
      return;
    }
  }

  test('an audit is asked for once, and what the last one found is shown', async () => {
    const first = await open.post('/self-audit/run');
    expect([first.status, first.json['running'], open.audit.runs]).toEqual([200, true, 1]);
    expect(await open.refusal('POST', '/self-audit/run')).toEqual([409, 'conflict']);
    open.audit.state = {
      running: false,
      everyMs: 60_000,
      last: { startedAt: 0, endedAt: 1_000, ok: true, count: 1 },
      differences: [{ kind: 'posted', accountId: 'acct_1', subject: 'acct_1', detail: '1 off' }],
      stopped: ['acct_1'],
    };
    expect(await open.get<object>('/self-audit')).toEqual({
      running: false,
      every_seconds: 60,
      last: {
        started_at: '1970-01-01T00:00:00.000Z',
        ended_at: '1970-01-01T00:00:01.000Z',
        ok: true,
        differences: 1,
      },
      differences: [{ kind: 'posted', subject: 'acct_1', account_id: 'acct_1', detail: '1 off' }],
      stopped: ['acct_1'],
    });
  });

  test('nodes are listed as they say, with more about the process that answers', async () => {
    const [own, other] = NODES;
    const process = {
      ...{ runtime: 'Bun', resident_bytes: 5, heap_bytes: 4, cpu_seconds: 1.2 },
      loop_lag_ms: 0,
    };
    expect(await open.get<object>('/nodes')).toEqual({
      object: 'list',
      data: [
        { ...own, process },
        { ...other, process: null },
      ],
      next: null,
    });
  });

  test('no key of an upstream is in any answer', async () => {
    const paths = ['/overview', '/upstreams', '/upstreams/far', '/models', '/prices', '/catalog'];
    for (const path of [...paths, '/money', '/alerts', '/self-audit', '/nodes']) {
      const { status, text } = await open.ask('GET', path);
      expect([path, status, SECRETS.some((secret) => text.includes(secret))]).toEqual([
        path,
        200,
        false,
      ]);
    }
  });
});
