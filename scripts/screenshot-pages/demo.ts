// A gateway with a month of demonstration data for screenshots: accounts, keys, daily requests with
// refusals and fallbacks, payments, blocks and an incident.

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { catalogOf } from '../../test/support/catalog.ts';
import { post, requestBody } from '../../test/support/client.ts';
import { addOperator, newPassword, openSignUp, signUp } from '../../test/support/customer.ts';
import { type Gateway, startGateway } from '../../test/support/gateway.ts';
import { openMailbox } from '../../test/support/mailbox.ts';
import { startUpstream, type Upstream, waitUntil } from '../../test/support/upstream.ts';

const DAY_MS = 86_400_000;
const CLOCK = resolve(import.meta.dir, '../../test/support/shifted-clock.ts');

type DemoAccount = {
  readonly id: string;
  readonly email: string;
  readonly keys: readonly string[];
};

type Login = { readonly email: string; readonly password: string };

export type Demo = {
  readonly gateway: Gateway;
  /** Whose pages are shown. */
  readonly customer: Login;
  readonly operator: Login;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

const PEOPLE = [
  { email: 'ada@lovelace.example', plan: 'pro', credit: 25_000_000, keys: ['production', 'ci'] },
  { email: 'grace@hopper.example', plan: 'business', credit: 80_000_000, keys: ['compiler'] },
  { email: 'alan@turing.example', plan: 'starter', credit: 4_000_000, keys: [] },
  { email: 'katherine@johnson.example', plan: 'power', credit: 40_000_000, keys: ['orbits'] },
  { email: 'edsger@dijkstra.example', plan: 'pay-as-you-go', credit: 900_000, keys: [] },
  { email: 'barbara@liskov.example', plan: 'pro', credit: 12_500_000, keys: ['staging'] },
  { email: 'donald@knuth.example', plan: 'pay-as-you-go', credit: 300_000, keys: [] },
] as const;

/** Requests of each of the last days, oldest first; the last one is today. */
const TRAFFIC = [
  ...[8, 11, 14, 9, 4, 3, 16],
  ...[18, 15, 22, 19, 6, 5, 21],
  ...[24, 27, 23, 30, 9, 7, 28],
  ...[31, 36, 29, 38, 12, 10, 42],
  ...[45, 33],
];
const WEEK = 7;

const END_USERS = ['reader-17', 'reader-204', 'nightly-report', 'support-desk', undefined];
const MODELS = [
  'swift-2',
  'swift-2',
  'swift-1',
  'sage-3',
  'swift-2',
  'scout-1',
  'swift-1',
] as const;

/** Words of each prompt: about as many tokens as the upstream says. */
const WORDS = { 'swift-2': 1_230, 'swift-1': 930, 'sage-3': 2_000, 'scout-1': 60 } as const;

function catalog(upstream: Upstream): string {
  const north = upstream.site('north');
  const south = upstream.site('south');
  const cost = { input: '0.05', cached_input: '0.01', output: '0.25' };
  const dear = { input: '0.70', cached_input: '0.07', output: '2.90' };
  const served = (where: string, model: string, weight: number, paid: object = cost) => ({
    upstream: where,
    model,
    weight,
    cost: paid,
  });
  return catalogOf({
    service: { name: 'Tollgate', usd_per_million: '1.00' },
    upstreams: [
      { id: 'north', dialect: 'chat', base_url: north.baseUrl, api_key: 'demo-north' },
      { id: 'south', dialect: 'messages', base_url: south.messagesBaseUrl, api_key: 'demo-south' },
    ],
    models: [
      {
        slug: 'swift-2',
        aliases: ['swift'],
        display_name: 'Swift 2',
        description: 'Quick answers, tools and pictures.',
        price: { input: '0.15', cached_input: '0.03', output: '0.60' },
        served_by: [
          served('north', 'usage-1240-800-412', 3),
          served('south', 'usage-1250-0-133', 2),
        ],
        fallbacks: ['swift-1'],
      },
      {
        slug: 'swift-1',
        display_name: 'Swift 1',
        description: 'The one before; cheaper.',
        features: ['tools', 'json'],
        price: { input: '0.08', cached_input: '0.02', output: '0.30' },
        served_by: [served('south', 'usage-940-300-205', 1)],
      },
      {
        slug: 'sage-3',
        aliases: ['sage'],
        display_name: 'Sage 3',
        description: 'Thinks before it answers.',
        context_window: 200_000,
        max_output: 32_000,
        price: { input: '1.20', cached_input: '0.12', output: '4.80' },
        served_by: [
          served('north', 'usage-2010-1400-405', 1, dear),
          served('south', 'usage-2020-1100-680', 2, dear),
        ],
        fallbacks: ['swift-2'],
      },
      {
        slug: 'scout-1',
        display_name: 'Scout 1',
        description: 'For short questions in great numbers.',
        features: ['json'],
        price: { input: '0.04', cached_input: '0.01', output: '0.16' },
        served_by: [served('north', 'status-503-times-400', 1)],
        fallbacks: ['swift-1'],
      },
      {
        slug: 'sketch-1',
        display_name: 'Sketch 1',
        description: 'A preview that refuses much.',
        features: ['json'],
        price: { input: '0.30', cached_input: '0.06', output: '1.20' },
        served_by: [served('north', 'status-400', 1)],
      },
      {
        slug: 'atlas-0',
        display_name: 'Atlas 0',
        description: 'Retires at the end of the year.',
        features: ['tools', 'json'],
        price: { input: '0.20', cached_input: '0.04', output: '0.80' },
        served_by: [served('south', 'cut-before', 1)],
      },
    ],
  });
}

/** Lives through a month in some seconds, and leaves the gateway of today running. */
export async function startDemo(): Promise<Demo> {
  const upstream = await startUpstream();
  const mailbox = await openMailbox();
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-pictures-'));
  const environment = openSignUp(mailbox);
  const shared = { directory, catalog: catalog(upstream) };
  const accounts = await livePast(shared, environment);
  const gateway = await startGateway({ ...shared, environment });
  await callAlong(gateway, accounts, TRAFFIC.at(-1) ?? 0, TRAFFIC.length);
  await disturb(gateway, accounts);
  const operator = { email: 'charles@babbage.example', password: newPassword() };
  await addOperator(gateway, operator.email, operator.password);
  const customer = await signUp(gateway, mailbox, PEOPLE[0].email);
  return {
    gateway,
    customer,
    operator,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await mailbox[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

/** All days but today, a week a server: what is used within a minute of ours counts as one. */
async function livePast(
  shared: { readonly directory: string; readonly catalog: string },
  environment: Readonly<Record<string, string>>,
): Promise<readonly DemoAccount[]> {
  const days = TRAFFIC.slice(0, -1);
  let accounts: readonly DemoAccount[] = [];
  for (let first = 0; first < days.length; first += WEEK) {
    const behindMs = (days.length - first) * DAY_MS;
    const past = await startGateway({
      ...shared,
      preload: CLOCK,
      environment: { ...environment, CLOCK_BEHIND_MS: String(behindMs) },
    });
    if (first === 0) accounts = await populate(past);
    if (first === 2 * WEEK) await topUp(past, accounts);
    for (const [day, requests] of days.slice(first, first + WEEK).entries()) {
      await callAlong(past, accounts, requests, first + day);
      process.kill(past.pid, 'SIGUSR2');
      await waitUntil(() => past.output().split('a day has passed').length > day + 1);
    }
    await past.stop();
  }
  return accounts;
}

async function populate(gateway: Gateway): Promise<DemoAccount[]> {
  const accounts: DemoAccount[] = [];
  for (const { email, plan, credit, keys } of PEOPLE) {
    const { id, key } = await gateway.createAccount({ email, plan, credit });
    const more: string[] = [];
    for (const name of keys) {
      more.push(String((await gateway.run('key', 'create', id, '--name', name))['key']));
    }
    accounts.push({ id, email, keys: [...more, key] });
  }
  return accounts;
}

/** A few at a time, as clients do. */
async function callAlong(
  gateway: Gateway,
  accounts: readonly DemoAccount[],
  requests: number,
  seed: number,
): Promise<void> {
  const turns = Array.from({ length: requests }, (_, turn) => turn);
  const workers = Array.from({ length: 3 }, async () => {
    for (let turn = turns.pop(); turn !== undefined; turn = turns.pop()) {
      await callOnce(gateway, accounts, turn + seed);
    }
  });
  await Promise.all(workers);
}

async function callOnce(
  { url }: Gateway,
  accounts: readonly DemoAccount[],
  turn: number,
): Promise<void> {
  const account = accounts[turn % 3 === 0 ? turn % accounts.length : 0];
  const key = account?.keys[turn % account.keys.length];
  const model = MODELS[(turn * 5) % MODELS.length] ?? 'swift-2';
  if (key === undefined) return;
  const content = `Summarise this: ${'word '.repeat(WORDS[model])}`;
  const asked = {
    messages: [{ role: 'user', content }],
    max_tokens: 1_600,
    stream: turn % 2 === 0,
  };
  const user = END_USERS[turn % END_USERS.length];
  const [path, body] =
    turn % 4 === 3
      ? (['/v1/messages', requestBody('messages', model, asked)] as const)
      : (['/v1/chat/completions', requestBody('chat', model, { ...asked, user })] as const);
  await (await post({ url, key }, path, body)).text();
}

async function topUp(gateway: Gateway, [first, second]: readonly DemoAccount[]): Promise<void> {
  if (first === undefined || second === undefined) return;
  await gateway.run('account', 'credit', first.id, '10000000', '--reason', 'Invoice 2041');
  await gateway.run('account', 'grant', second.id, '500000', '--reason', 'For the outage');
}

async function disturb(gateway: Gateway, accounts: readonly DemoAccount[]): Promise<void> {
  const [first, , third, , , , last] = accounts;
  await fail(gateway, first);
  const bounds = ['--budget-month', '20000000', '--budget-day', '900000', '--models', 'swift-2'];
  if (first?.keys[0]) await gateway.run('key', 'edit', first.keys[0], ...bounds);
  await gateway.run('code', 'create', '--amount', '5000000', '--reason', 'Fair', '--count', '2');
  await gateway.run('invite', 'create', '--email', 'margaret@hamilton.example');
  const until = ['--expires', new Date(Date.now() + 90 * DAY_MS).toISOString()];
  for (const [name, scopes] of [
    ['metering', 'usage:read,prices:read'],
    ['billing', 'accounts:read,accounts:write,keys:read,keys:write,credits:write'],
  ] as const) {
    await gateway.run('token', 'create', name, '--scopes', scopes, ...until);
  }
  await gateway.run('models', 'limit', 'sage-3', '--requests-per-minute', '30');
  await gateway.run('block', 'add', 'network', '203.0.113.0/24', '--reason', 'Key guessing');
  if (third !== undefined) {
    await gateway.run('block', 'add', 'account', third.id, '--reason', 'Charge disputed');
  }
  if (last !== undefined) await gateway.run('account', 'suspend', last.id);
}

/** Requests of one account that an upstream fails or the gateway refuses. */
async function fail({ url, run }: Gateway, account: DemoAccount | undefined): Promise<void> {
  const [key, ...others] = account?.keys ?? [];
  if (account === undefined || key === undefined) return;
  const revoked = await run('key', 'create', account.id, '--name', 'old laptop');
  await run('key', 'revoke', String((revoked['api_key'] as { id?: unknown })?.id ?? revoked['id']));
  const ask = async (used: string, model: string, fields: Readonly<Record<string, unknown>> = {}) =>
    (
      await post({ url, key: used }, '/v1/chat/completions', requestBody('chat', model, fields))
    ).text();
  for (const model of ['sketch-1', 'sketch-1', 'atlas-0', 'swift-9', 'swift-9'])
    await ask(key, model);
  await ask(key, 'swift-2', { temperature: 9 });
  await ask(others[0] ?? key, 'swift-2', { max_tokens: 900_000 });
  await ask(String(revoked['key']), 'swift-2');
}
