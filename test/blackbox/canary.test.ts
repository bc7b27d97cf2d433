// Searches for leaks of confidential data. Random strings enter at every place, through every
// success and every error, in every format; then everything that was answered, printed, counted,
// sent and stored is searched for them.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { CANARY } from '../support/behaviours.ts';
import { EVERY_FORMAT, PATHS, post, requestBody } from '../support/client.ts';
import { type DeadPorts, openDeadPorts } from '../support/dead-ports.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { SIGNATURE } from '../support/render.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';
import { drawCanaries, findLeaks, findMissing, type Seen } from './canary/canaries.ts';
import { generation, refusals, type Sent } from './canary/requests.ts';
import { commandsSeen, databaseSeen, endpointsSeen, filesSeen, textOf } from './canary/search.ts';
import { behavioursOf, MODELS, stagedCatalog } from './canary/stage.ts';

setDefaultTimeout(180_000);

const LANES = 32;

const canaries = drawCanaries();
const seen: Seen[] = [];
/** Sites whose client has got content. */
const delivered = new Set<string>();
const requestIds: string[] = [];
const statuses = new Set<number>();
const webhookSeen: Seen[] = [];

let ports: DeadPorts;
let upstream: Upstream;
let gateway: Gateway;
let environment: Readonly<Record<string, string>>;
let webhook: ReturnType<typeof Bun.serve>;
let accounts: Readonly<
  Record<'customer' | 'poor' | 'tight' | 'stranger' | 'unverified', TestAccount>
>;

beforeAll(async () => {
  ports = await openDeadPorts();
  upstream = await startUpstream(behavioursOf(canaries, ({ site }) => delivered.has(site)));
  webhook = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: keepAlert });
  environment = {
    LOG_LEVEL: 'debug',
    SILENT_COMMIT_SECONDS: '0.3',
    SESSION_SECRET: canaries.sessionSecret,
    METRICS_TOKEN: canaries.metricsToken,
    ALERT_WEBHOOK_URL: `${webhook.url}${canaries.webhookPath}`,
    ALERT_WEBHOOK_SECRET: canaries.webhookSecret,
  };
  gateway = await startGateway({ catalog: stagedCatalog(canaries, upstream, ports), environment });
  const create = (plan: string, credit: number | string, verified = true): Promise<TestAccount> =>
    gateway.createAccount({ email: emailOf(plan, credit), plan, credit, verified });
  accounts = {
    customer: await create('roomy', 10_000_000),
    poor: await create('roomy', '0.000001'),
    tight: await create('tight', 1_000_000),
    stranger: await create('roomy', 1_000_000),
    unverified: await create('roomy', 1, false),
  };
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream.close();
  await ports[Symbol.asyncDispose]();
  await webhook.stop(true);
});

function emailOf(plan: string, credit: number | string): string {
  return `${canaries.email}-${plan}-${credit}@example.com`;
}

async function keepAlert(request: Request): Promise<Response> {
  const text = `${JSON.stringify([...request.headers])}\n${await request.text()}`;
  webhookSeen.push({ place: 'webhook', where: 'alert', text });
  // One in three is refused: the failure is reported, the address is not.
  return new Response(null, { status: webhookSeen.length % 3 === 0 ? 400 : 200 });
}

/** Sends as a customer and keeps the response. */
async function ask(account: TestAccount, sent: Sent, site?: string): Promise<Response> {
  const response = await fetch(`${gateway.url}${sent.path}`, {
    method: sent.method,
    headers: { authorization: `Bearer ${account.key}`, ...sent.headers },
    ...(sent.body === undefined ? {} : { body: sent.body }),
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (site !== undefined && text.includes('Hello')) delivered.add(site);
  }
  const where = `${sent.method} ${sent.path.slice(0, 30)} ${site?.slice(-30) ?? ''}`;
  const head = JSON.stringify([...response.headers]);
  const place = sent.path.startsWith(PATHS.responses) ? 'own Responses answer' : 'own answer';
  seen.push({ place, where, text: `${head}\n${text}` });
  statuses.add(response.status);
  requestIds.push(response.headers.get('x-request-id') ?? '');
  return response;
}

/** Every model in every way, so many at a time. */
async function askAll(): Promise<void> {
  const jobs = MODELS.flatMap((model) =>
    EVERY_FORMAT.flatMap((format) => [false, true].map((stream) => ({ ...model, format, stream }))),
  );
  const lane = async (): Promise<void> => {
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
      const site = `${canaries.upstreamPath}-${job.slug}`;
      if (!job.stream) delivered.add(site);
      const sent = generation(canaries, job.format, job.slug, job.stream);
      await ask(accounts.customer, sent, site);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

test('canaries go through every success and every failure of an upstream', async () => {
  await askAll();
  const answered = new Set(upstream.requests.map(({ site }) => site));
  const asked = MODELS.filter(({ door }) => door === undefined);
  expect(answered.size).toBeGreaterThanOrEqual(asked.length);
});

test('and through every refusal, and a client that leaves', async () => {
  const { customer, poor, tight, unverified } = accounts;
  for (const format of EVERY_FORMAT) {
    for (const sent of refusals(canaries, format)) {
      expect((await ask(customer, sent)).ok).toBe(false);
    }
    const fine = generation(canaries, format, 'ok-chat', false);
    expect((await ask(poor, fine)).status).toBe(402);
    expect((await ask(unverified, fine)).status).toBe(403);
    await ask(tight, fine);
    expect((await ask(tight, fine)).status).toBe(429);
    const unknown = {
      ...tight,
      key: `sk-${crypto.randomUUID().repeat(2).replaceAll('-', '').slice(0, 48)}`,
    };
    expect((await ask(unknown, fine)).status).toBe(401);
    const two = { ...fine, headers: { ...fine.headers, 'x-api-key': poor.key } };
    expect((await ask(customer, two)).status).toBe(401);
    const leave = new AbortController();
    const sent = generation(canaries, format, 'late-stall-chat', true);
    const init = { headers: { ...sent.headers }, signal: leave.signal };
    const left = await post(customer, sent.path, sent.body, init);
    leave.abort();
    await left.text().catch(() => {});
  }
  await upstream.waitFor(({ active }) => active() === 0);
  const every = [200, 400, 401, 402, 403, 404, 405, 413, 415, 429, 503];
  expect([...statuses].sort((a, b) => a - b)).toEqual(every);
});

test('a customer after them sees nothing of it', async () => {
  for (const format of EVERY_FORMAT) {
    for (const stream of [false, true]) {
      const body = requestBody(format, 'ok-chat', { stream, max_tokens: 10 });
      const path = PATHS[format];
      const response = await post(accounts.stranger, path, body);
      seen.push({ place: 'stranger', where: path, text: await textOf(response) });
    }
  }
  seen.push(...(await endpointsSeen(gateway, accounts.stranger, canaries.metricsToken)));
});

test('all that is left behind is gathered', async () => {
  await waitUntil(() => webhookSeen.length > 0);
  const { customer } = accounts;
  const some = requestIds.filter((id) => id !== '').filter((_, index) => index % 250 === 0);
  seen.push(...(await commandsSeen(gateway, environment, customer, some)));
  seen.push(...databaseSeen(gateway), ...filesSeen(gateway), ...webhookSeen);
  for (const { method, path, headers, text } of upstream.requests) {
    const where = `${method} ${path.slice(0, 30)}`;
    seen.push({ place: 'upstream', where, text: `${path}\n${JSON.stringify(headers)}\n${text}` });
  }
  seen.push({ place: 'output', where: 'stdout and stderr', text: gateway.output() });
});

test('no canary is anywhere but where it belongs', () => {
  const others = {
    ...Object.fromEntries(Object.entries(accounts).map(([who, { key }]) => [`key of ${who}`, key])),
    'a word of the upstream': CANARY,
    'a name of the upstream': 'chatcmpl-scripted',
    'a fingerprint of the upstream': 'fp_scripted',
    'a signature of the upstream': SIGNATURE,
  };
  expect(findLeaks(canaries, others, seen)).toEqual([]);
});

test('the search would have found them', () => {
  expect(findMissing(canaries, seen)).toEqual([]);
});
