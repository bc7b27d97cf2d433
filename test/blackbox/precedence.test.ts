// Where several refusals apply, the first in REFUSAL_ORDER is returned, in both formats: for every
// pair of neighbours and a random sample of sets. Runs against the executable.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { codeOf, type RankedRefusal, REFUSAL_ORDER } from '../../src/core/admit.ts';
import { ERRORS, type ErrorCode } from '../../src/core/error.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import {
  EVERY_FORMAT,
  type EveryFormat,
  generate,
  openStream,
  PATHS,
  post,
  requestBody,
} from '../support/client.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

const BLOCKED_ADDRESS = '203.0.113.7';

/** What is true of an account or its plan; everything else is in the request itself. */
const TRAITS = [
  'key_paused',
  'address_not_allowed',
  'model_not_allowed_for_key',
  'key_budget_exhausted',
  'invalid_api_key',
  'email_not_verified',
  'account_inactive',
  'account_blocked',
  'api_key_blocked',
  'model_not_in_plan',
  'concurrency_limit_exceeded',
  'rate_limit_exceeded',
  'tokens_per_minute_exceeded',
  'daily_limit_exceeded',
  'monthly_limit_exceeded',
  'minimum_balance',
  'insufficient_balance',
] as const satisfies readonly RankedRefusal[];

type Trait = (typeof TRAITS)[number];

/** What a plan must be like for its limit to refuse; a plan is made for each set of these. */
const PLAN_FIELDS: Readonly<Partial<Record<Trait, Readonly<Record<string, unknown>>>>> = {
  model_not_in_plan: { models: ['stall'] },
  concurrency_limit_exceeded: { concurrent_requests: 1 },
  rate_limit_exceeded: { requests_per_minute: 1 },
  tokens_per_minute_exceeded: { tokens_per_minute: 2_000 },
  daily_limit_exceeded: { daily_tokens: 2_000 },
  monthly_limit_exceeded: { monthly_tokens: 2_000 },
};

const neighbours = REFUSAL_ORDER.slice(1).map((code, index): readonly RankedRefusal[] => [
  REFUSAL_ORDER[index] ?? code,
  code,
]);

/** A fixed seed: the same sets every time, so that a failure can be run again. */
const samples: readonly (readonly RankedRefusal[])[] = fc.sample(
  fc.uniqueArray(fc.constantFrom(...REFUSAL_ORDER), { minLength: 2, maxLength: 8 }),
  { numRuns: 40, seed: 7 },
);

/** A request that runs holds the minimum, so its account has that much. */
const RUNNING: readonly RankedRefusal[] = ['rate_limit_exceeded', 'concurrency_limit_exceeded'];

const SETS = [
  ...REFUSAL_ORDER.map((code) => [code]),
  ...neighbours,
  ...REFUSAL_ORDER.map((_, index) => REFUSAL_ORDER.slice(index)),
  ...samples,
].map((set): readonly RankedRefusal[] =>
  set.some((each) => RUNNING.includes(each))
    ? set.filter((each) => each !== 'minimum_balance')
    : set,
);

const firstOf = (set: readonly RankedRefusal[]): RankedRefusal | undefined =>
  REFUSAL_ORDER.find((code) => set.includes(code));
const traitsOf = (set: readonly RankedRefusal[]): Trait[] =>
  TRAITS.filter((code) => set.includes(code));
const planTraits = (traits: readonly Trait[]): Trait[] =>
  traits.filter((trait) => trait in PLAN_FIELDS);
const planSlug = (traits: readonly Trait[]): string =>
  `plan-${planTraits(traits)
    .map((trait) => TRAITS.indexOf(trait))
    .join('-')}`;

let upstream: Upstream;
let gateway: Gateway;
/** One account for each set of traits. */
const accounts = new Map<string, TestAccount>();
const leave = new AbortController();
/** Kept, because an answer without a reference is collected, and its connection closed with it. */
const firstAnswers: Response[] = [];

beforeAll(async () => {
  upstream = await startUpstream();
  const traitSets = new Map(SETS.map(traitsOf).map((traits) => [traits.join(), traits]));
  const plans = Object.fromEntries(
    [...traitSets.values()].map((traits) => [
      planSlug(traits),
      Object.assign({ ...LARGE_PLAN }, ...planTraits(traits).map((trait) => PLAN_FIELDS[trait])),
    ]),
  );
  gateway = await startGateway({
    // The first requests stay in progress until the last test.
    catalog: catalogFor(upstream, ['ok', 'stall'], { plans, upstream: { idle_seconds: 600 } }),
    environment: { TRUSTED_PROXIES: '127.0.0.1' },
  });
  await gateway.run('block', 'add', 'network', BLOCKED_ADDRESS);
  // A few at a time: each command is a process of its own.
  const waiting = [...traitSets];
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        accounts.set(next[0], await createAccount(next[1]));
      }
    }),
  );
  // The server takes changes up in one go: when it knows of the last one, it knows of all.
  const last = await gateway.createAccount();
  expect((await generate(last, 'chat', 'ok')).status).toBe(200);
  await gateway.run('account', 'suspend', last.id);
  await waitUntil(async () => (await generate(last, 'chat', 'ok')).status === 403);
}, 180_000);

afterAll(async () => {
  leave.abort();
  await gateway[Symbol.asyncDispose]();
  await upstream.close();
});

/**
 * An account with these traits. A slot, a window and a small balance are taken by a first request,
 * which stays in progress; an account that was never verified or has no balance cannot have made one.
 */
async function createAccount(traits: readonly Trait[]): Promise<TestAccount> {
  const verified = !traits.includes('email_not_verified');
  const isPoor = traits.includes('minimum_balance');
  const account = await gateway.createAccount({
    plan: planSlug(traits),
    credit: isPoor ? 0.5 : traits.includes('insufficient_balance') ? 40 : 1_000_000,
    verified,
  });
  if (verified && !isPoor) {
    const first = await openStream(account, 'chat', 'stall', { max_tokens: 5 }, leave.signal);
    expect(first.status).toBe(200);
    firstAnswers.push(first);
  }
  const commands: Partial<Record<Trait, string[]>> = {
    key_paused: ['key', 'pause', account.key],
    address_not_allowed: ['key', 'edit', account.key, '--networks', '198.51.100.0/24'],
    model_not_allowed_for_key: ['key', 'edit', account.key, '--models', 'stall'],
    key_budget_exhausted: ['key', 'edit', account.key, '--budget-total', '0'],
    invalid_api_key: ['key', 'revoke', account.key],
    account_inactive: ['account', 'suspend', account.id],
    account_blocked: ['block', 'add', 'account', account.id],
    api_key_blocked: ['block', 'add', 'key', account.key],
  };
  for (const trait of traits) {
    const command = commands[trait];
    if (command !== undefined) await gateway.run(...command);
  }
  return account;
}

/** The code with which a request is refused to which everything in the set applies. */
async function refusedWith(
  account: TestAccount,
  format: EveryFormat,
  set: readonly RankedRefusal[],
): Promise<unknown> {
  const has = (code: RankedRefusal) => set.includes(code);
  const body = requestBody(format, has('model_not_found') ? 'no-such-model' : 'ok', {
    max_tokens: has('context_length_exceeded') ? 200_000 : 3_000,
    // A cap refuses a prompt that does not fit the rest of it; an output bound is lowered.
    ...(has('daily_limit_exceeded') || has('monthly_limit_exceeded')
      ? { messages: [{ role: 'user', content: 'word '.repeat(2_000) }] }
      : {}),
    ...(has('invalid_request') ? { temperature: 'hot' } : {}),
  });
  const padding = has('payload_too_large') ? ' '.repeat(2_097_152) : '';
  const headers = {
    ...(has('missing_api_key') ? { authorization: '' } : {}),
    ...(has('ip_blocked') ? { 'x-forwarded-for': BLOCKED_ADDRESS } : {}),
  };
  const response = await post(account, PATHS[format], JSON.stringify(body) + padding, { headers });
  const json = (await response.json()) as { readonly error?: { readonly code: ErrorCode } };
  const code = json.error?.code;
  if (code !== undefined) expect(response.status).toBe(ERRORS[code].status);
  return code ?? response.status;
}

async function expectFirst(set: readonly RankedRefusal[]): Promise<void> {
  const first = firstOf(set);
  if (first === undefined) return;
  const traits = traitsOf(set);
  // A window of requests that its first request opened long ago may be over.
  const account =
    first === 'rate_limit_exceeded' ? await createAccount(traits) : accounts.get(traits.join());
  if (account === undefined) throw new Error('no account has these traits');
  for (const format of EVERY_FORMAT) {
    expect({ format, set, code: await refusedWith(account, format, set) }).toEqual({
      format,
      set,
      code: codeOf(first),
    });
  }
}

const name = (set: readonly RankedRefusal[]): [string, readonly RankedRefusal[]] => [
  set.join(' + '),
  set,
];
const inMaintenance = (set: readonly RankedRefusal[]): boolean => set.includes('maintenance_mode');

describe('alone or with others, the first is the answer', () => {
  test.each(SETS.filter((set) => !inMaintenance(set)).map(name))('%s', (_name, set) =>
    expectFirst(set),
  );
});

describe('in maintenance', () => {
  beforeAll(async () => {
    const healthy = await gateway.createAccount();
    await gateway.run('maintenance', 'on');
    await waitUntil(async () => (await generate(healthy, 'chat', 'ok')).status === 503);
  });

  test.each(SETS.filter(inMaintenance).map(name))('%s', (_name, set) => expectFirst(set));
});
