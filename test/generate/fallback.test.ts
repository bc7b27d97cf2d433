// A fallback through the whole pipeline: the request it gets, how its answer is named and charged,
// and that its own bound is no lack of funds. The charge on a lack of funds is tested here, too.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { FinishReason } from '../../src/core/generation.ts';
import type { Model } from '../../src/core/model.ts';
import { micro, pico } from '../../src/core/money.ts';
import { generate } from '../../src/generate/generate.ts';
import type { GenerateDependencies } from '../../src/generate/pipeline-types.ts';
import type { AttemptOptions, Batch } from '../../src/upstream/attempt.ts';
import { temporaryDirectory } from '../support/database.ts';
import { closeBooks, holdOf, type OpenBooks, openBooks, releaseOf } from '../support/ledger.ts';
import { alwaysAt } from '../support/price.ts';
import { candidate, HELLO, listedAttempt } from './fixtures.ts';
import { catalogWith, openPipeline, planWith, reads, TOKEN } from './rig.ts';

const directory = temporaryDirectory();

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

const CATALOG = catalogWith(planWith({ maxContext: 50_000 }), MODELS);

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
  const asked: AttemptOptions[] = [];
  const { dependencies, call, health } = await openPipeline(open, CATALOG, accountId, {
    startAttempt(options) {
      asked.push(options);
      return startAttempt(options);
    },
  });
  const readBody = reads({ model: 'large', messages: [{ role: 'user', content: 'Hi' }] });
  const generated = await generate(dependencies, call(`req_${accountId}`, { readBody }));
  return { generated, asked, health };
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
