// A fallback through the whole pipeline: the request it gets, how its answer is named and charged,
// and that its own bound is no lack of funds. The charge on a lack of funds is tested here, too.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { FinishReason } from '../../src/core/generation.ts';
import type { Catalog, Model } from '../../src/core/model.ts';
import { micro, pico, usdRate } from '../../src/core/money.ts';
import type { Plan } from '../../src/core/plan.ts';
import { DEFAULT_SERVICE } from '../../src/core/service.ts';
import { RequestEntrance } from '../../src/generate/entrance.ts';
import { createFunds } from '../../src/generate/funds.ts';
import { generate } from '../../src/generate/generate.ts';
import { createInFlight } from '../../src/generate/in-flight.ts';
import type { GenerateDependencies, GenerationCall } from '../../src/generate/pipeline-types.ts';
import { createTokenizer } from '../../src/generate/tokenizer.ts';
import { createHistory } from '../../src/ledger/history.ts';
import { createLimits } from '../../src/limits/limits.ts';
import type { AttemptOptions, Batch } from '../../src/upstream/attempt.ts';
import { createHealth } from '../../src/upstream/health.ts';
import { startTimer } from '../../src/upstream/timer.ts';
import { chatFormat } from '../../src/wire/chat/format.ts';
import { temporaryDirectory } from '../support/database.ts';
import {
  closeBooks,
  fundAccount,
  holdOf,
  NOW,
  type OpenBooks,
  openBooks,
  releaseOf,
} from '../support/ledger.ts';
import { operatorState } from '../support/operator.ts';
import { alwaysAt } from '../support/price.ts';
import { SILENT_PROBE } from '../support/probe.ts';
import { candidate, HELLO, listedAttempt } from './fixtures.ts';

const directory = temporaryDirectory();
const TOKEN = 1_000_000n;

/** Two service tokens a token. */
const PRICE = pico(2n * 10n ** 12n);

function modelOf(slug: string, maxOutput: number, fallbacks: readonly string[] = []): Model {
  const price = { input: PRICE, cachedInput: PRICE, cacheWrite: PRICE, output: PRICE };
  return {
    ...candidate(slug).model,
    contextWindow: 50_000,
    maxOutput,
    fallbacks,
    prices: alwaysAt({ version: slug, ...price }),
  };
}

const MODELS = [modelOf('large', 20_000, ['small']), modelOf('small', 50)];

const PLAN: Plan = {
  slug: 'test',
  name: 'Test',
  requestsPerMinute: 10,
  tokensPerMinute: 100_000,
  concurrentRequests: 1,
  maxContext: 50_000,
  maxApiKeys: 1,
  models: ['*'],
};

const CATALOG: Catalog = {
  serviceName: 'test',
  service: DEFAULT_SERVICE,
  usdPerMillion: usdRate(1_000_000n),
  minimumHold: micro(TOKEN),
  models: MODELS,
  plans: new Map([['test', PLAN]]),
  upstreams: new Map(MODELS.map(({ slug }) => [slug, candidate(slug).upstream])),
  resolve: (name) => MODELS.find(({ slug }) => slug === name),
};

let open: OpenBooks;

beforeAll(async () => {
  open = await openBooks(directory);
});

afterAll(() => closeBooks(open));

/** Asks for `large`, whose upstream is `fails`; every other one ends with `reason`. */
function ask(accountId: string, reason: FinishReason, fails: readonly string[]) {
  return askOf(accountId, ({ candidate: of }) => {
    const busy: Batch = { events: [], end: { class: 'overloaded', detail: 'busy' } };
    const whole: Batch = { events: [HELLO, { kind: 'finish', reason }], end: 'finished' };
    return listedAttempt(of, [fails.includes(of.model.slug) ? busy : whole]);
  });
}

/** Asks for `large`, with 10,000 service tokens. */
async function askOf(accountId: string, startAttempt: GenerateDependencies['startAttempt']) {
  await fundAccount(open, accountId, 10_000n * TOKEN);
  const inFlight = createInFlight();
  const asked: AttemptOptions[] = [];
  const clock = (): number => NOW;
  const health = createHealth({
    probe: SILENT_PROBE,
    catalog: () => CATALOG,
    clock,
    monotonic: clock,
    startTimer,
    alert: () => undefined,
  });
  const body = { model: 'large', messages: [{ role: 'user', content: 'Hi' }] };
  const call: GenerationCall = {
    format: chatFormat,
    requestId: `req_${accountId}`,
    startedAt: NOW,
    authorize: async () => ({
      keyId: 'key_1',
      accountId,
      plan: 'test',
      planSince: 0,
      standing: 'active',
      emailVerified: true,
    }),
    readBody: async () => ({ value: body, text: JSON.stringify(body) }),
    operator: operatorState(CATALOG),
    tally: { understood: () => undefined, ended: () => undefined },
    signal: new AbortController().signal,
  };
  const limits = await createLimits({
    clock,
    monotonic: clock,
    isLive: inFlight.isLive,
    history: createHistory(open.database),
  });
  const answer = generate(
    {
      clock,
      monotonic: clock,
      random: () => 0,
      limits,
      entrance: new RequestEntrance({ limits, bodyBytes: Infinity, monotonic: clock }),
      ledger: open.ledger,
      tokenizer: createTokenizer(
        (text) => text.length,
        () => 0,
      ),
      funds: createFunds(open.books),
      reasoning: undefined,
      startAttempt(options) {
        asked.push(options);
        return startAttempt(options);
      },
      health,
      startTimer,
      inFlight,
      alert: () => undefined,
      onInternal: () => undefined,
      heartbeatMs: 10_000,
      silentCommitMs: 10_000,
      booking: 'bounded',
    },
    call,
  );
  return { generated: await answer, asked, health };
}

test('an answer that the balance bounds, and that reaches its bound, was stopped by it', async () => {
  const { generated, asked } = await ask('bound', 'length', []);
  expect(generated).toMatchObject({
    modelServed: 'large',
    receipt: { outcome: 'stopped_balance' },
  });
  expect(asked.map(({ maxOutputTokens }) => maxOutputTokens < 20_000)).toEqual([true]);
});

test('a fallback that reaches its own lower bound was not', async () => {
  const { generated, asked, health } = await ask('fallback', 'length', ['large']);
  expect(generated).toMatchObject({
    modelServed: 'small',
    receipt: { outcome: 'completed', fallbackUsed: true },
  });
  expect(asked.map(({ maxOutputTokens }) => maxOutputTokens).at(-1)).toBe(50);
  expect(health.states().map(({ inFlight }) => inFlight)).toEqual([0, 0]);
});

test('what was made beyond the money is a loss, also where there is money again', async () => {
  const text = 'x'.repeat(6_000);
  const { generated } = await askOf('squeezed', ({ candidate: of }) => {
    const attempt = listedAttempt(of, [{ events: [{ kind: 'text-delta', text }] }]);
    return {
      ...attempt,
      // Another request has the rest of the balance when the answer grows, and then gives it back.
      async next() {
        await open.ledger.hold(holdOf('other', 'squeezed', 1_500n * TOKEN));
        return attempt.next();
      },
      abort: () => void open.ledger.release(releaseOf('other')),
    };
  });
  expect(generated).toMatchObject({ receipt: { outcome: 'stopped_balance' } });
  const story = await open.books.explain('req_squeezed');
  const { amount = 0n } = story?.hold ?? {};
  expect(story?.record).toMatchObject({ outcome: 'stopped_balance', debited: amount });
  expect(story?.record?.loss).toBeGreaterThan(0n);
  expect(await open.books.balance('squeezed')).toMatchObject({
    held: micro(0n),
    posted: 10_000n * TOKEN - amount,
  });
});
