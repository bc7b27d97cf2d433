// Receipts in the ledger: a number and a hash. Their text is rendered for each reader and equals
// the hashed text byte for byte; chains with several writers stay chains.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BASES, DOUBTS, OUTCOMES, type Outcome, type Usage } from '../../src/core/generation.ts';
import { createRequestId } from '../../src/core/id.ts';
import { type Micro, micro, pico, smaller, usdRate } from '../../src/core/money.ts';
import { chargeServed, type Price } from '../../src/core/price.ts';
import { termsText } from '../../src/core/price-terms.ts';
import { readReceipt, receiptBody } from '../../src/core/receipt.ts';
import { chainState, findReceipt, ReceiptReader } from '../../src/ledger/booked-receipts.ts';
import type { Ledger, ReleaseCommand } from '../../src/ledger/contract.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { findSlice, receiptPages } from '../../src/ledger/receipt-slices.ts';
import {
  connectAgain,
  describeOnEachDatabase,
  newDatabase,
  tamper,
  temporaryDirectory,
} from '../support/database.ts';
import {
  addAccount,
  booksOver,
  closeBooks,
  creditOf,
  fundAccount,
  holdOf,
  NOW,
  openBooks,
  unlessRefused,
} from '../support/ledger.ts';
import { anyTerms, TIER_WORDS } from '../support/price-terms.ts';
import { checkChain, sha256 } from '../support/receipt-chain.ts';
import { samples } from '../support/tier.ts';

const directory = temporaryDirectory();

const ACCOUNTS = ['ada', 'bob', 'acct_ünïcøde'] as const;
const OPENING = 10n ** 12n;

const count = fc.integer({ min: 0, max: 5_000 });

const usage = fc
  .record({
    inputTokens: count,
    cachedInputTokens: count,
    cacheWriteTokens: count,
    outputTokens: count,
    reasoningTokens: count,
    basis: fc.constantFrom(...BASES),
    doubt: fc.option(fc.constantFrom(...DOUBTS), { nil: undefined }),
    details: fc.record(
      {
        cachedExplicitTokens: fc.integer({ min: 1, max: 5_000 }),
        cacheWriteLongTokens: fc.integer({ min: 1, max: 5_000 }),
        serviceTier: fc.constantFrom(...TIER_WORDS),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ doubt, details, ...each }): Usage => {
    const cachedInputTokens = each.cachedInputTokens + (details.cachedExplicitTokens ?? 0);
    const cacheWriteTokens = each.cacheWriteTokens + (details.cacheWriteLongTokens ?? 0);
    const inputTokens = each.inputTokens + cachedInputTokens + cacheWriteTokens;
    const prompt = { inputTokens, cachedInputTokens, cacheWriteTokens };
    return { ...each, ...prompt, ...details, ...(doubt && { doubt }) };
  });

const rate = fc.bigInt({ min: 0n, max: 10n ** 10n }).map(pico);

const terms = fc.option(anyTerms, { nil: undefined });

const prices = fc
  .tuple(rate, rate, rate, rate, terms)
  .map(([input, cachedInput, cacheWrite, output, more]) => {
    const text = more === undefined ? '' : termsText(more);
    const digest = sha256(String([input, cachedInput, cacheWrite, output, text]));
    const rates = { input, cachedInput, cacheWrite, output };
    return {
      version: `price_${digest.slice(0, 8)}`,
      ...rates,
      ...(more && { terms: more }),
    } satisfies Price;
  });

const text = fc.string({ unit: 'grapheme', maxLength: 20 });

const accountId = fc.constantFrom(...ACCOUNTS);

const requestStep = fc.record({
  kind: fc.constant('request' as const),
  accountId,
  keyId: fc.constantFrom('key_1', 'playground'),
  format: fc.constantFrom('chat' as const, 'messages' as const),
  stream: fc.boolean(),
  endUser: fc.option(text, { nil: undefined }),
  model: text,
  price: prices,
  /** Absent: the same one. */
  servedPrice: fc.option(prices, { nil: undefined }),
  servedModel: text,
  upstream: text,
  amount: fc.bigInt({ min: 0n, max: 10n ** 9n }).map(micro),
  grown: fc.option(fc.bigInt({ min: 1n, max: 10n ** 12n }), { nil: undefined }),
  checkpoint: fc.option(fc.tuple(count, count), { nil: undefined }),
  ending: fc.constantFrom(
    ...(['settled', 'released', 'expired', 'recovered', 'within its hold', 'open'] as const),
  ),
  outcome: fc.constantFrom(...OUTCOMES),
  usage,
  rawUsage: fc.option(fc.json({ noUnicodeString: false }), { nil: undefined }),
  attempts: fc.array(fc.record({ upstream: text, startedAt: fc.nat(), detail: text }), {
    maxLength: 3,
  }),
  usdPerMillion: fc.bigInt({ min: 1n, max: 10n ** 9n }).map(usdRate),
  durationMs: fc.integer({ min: -1_000, max: 100_000 }),
});

const moneyStep = fc.record({
  kind: fc.constantFrom('credit' as const, 'grant' as const, 'adjustment' as const),
  accountId,
  amount: fc.bigInt({ min: 1n, max: 10n ** 9n }).map(micro),
  isDownwards: fc.boolean(),
  reason: text,
});

const codeStep = fc.record({ kind: fc.constant('code' as const), accountId });

type RequestStep = typeof requestStep extends fc.Arbitrary<infer Step> ? Step : never;

/** Plays a request to its end, and answers what the books have to give back of it. */
async function playRequest(ledger: Ledger, requestId: string, step: RequestStep, nowMs: number) {
  const { price, amount, ending } = step;
  const { ok } = await ledger.hold({
    ...holdOf(requestId, step.accountId, amount),
    ...{ keyId: step.keyId, format: step.format, stream: step.stream, model: step.model, price },
    ...(step.endUser === undefined ? {} : { endUser: step.endUser }),
    ...{ boot: requestId, nowMs },
  });
  if (!ok) return undefined;
  const grown = micro(amount + (step.grown ?? 0n));
  const held = (await ledger.extend({ requestId, amount: grown })).ok ? grown : amount;
  const servedPrice = step.servedPrice ?? price;
  const served = { model: step.servedModel, upstream: step.upstream, price: servedPrice };
  if (step.checkpoint !== undefined) {
    const [outputTokens, reasoningTokens] = step.checkpoint;
    await ledger.checkpoint({ requestId, served, outputTokens, reasoningTokens, nowMs });
  }
  const attempts = JSON.stringify(step.attempts);
  const end: ReleaseCommand = {
    requestId,
    outcome: step.outcome,
    usage: step.usage,
    ...(step.rawUsage === undefined ? {} : { rawUsage: step.rawUsage }),
    attempts,
    usdPerMillion: step.usdPerMillion,
    nowMs: nowMs + step.durationMs,
  };
  const recovery = { incarnations: [requestId], live: [], createdBefore: nowMs + 1 };
  const cost = chargeServed(step.usage, price, servedPrice);
  switch (ending) {
    case 'open':
      return undefined;
    case 'settled':
      await ledger.settle({ ...end, served, charge: chargeOf(step.outcome, cost, held) });
      break;
    case 'within its hold':
      await ledger.settle({ ...end, served, charge: cost, withinHold: true });
      break;
    case 'released':
      await ledger.release(end);
      break;
    default: {
      const phase = ending === 'expired' ? 'expired' : 'ended';
      await ledger.recover({ ...end, ...recovery, phase });
      return { rawUsage: null, attempts: '[]' };
    }
  }
  return { rawUsage: step.rawUsage ?? null, attempts };
}

/** As the gateway does: what was not completed may cost no more than was held. */
function chargeOf(outcome: Outcome, cost: Micro, held: Micro): Micro {
  return outcome === 'completed' ? cost : smaller(cost, held);
}

describeOnEachDatabase('receipts', () => {
  test('law: every receipt is written again as it was hashed', async () => {
    const history = fc.array(fc.oneof({ weight: 6, arbitrary: requestStep }, moneyStep, codeStep), {
      minLength: 5,
      maxLength: 40,
    });
    const law = fc.asyncProperty(history, fc.integer({ min: 1, max: 7 }), async (steps, page) => {
      await using open = await openBooks(directory);
      const { ledger, database, books } = open;
      for (const id of ACCOUNTS) await fundAccount(open, id, OPENING);
      const ended = new Map<string, { rawUsage: string | null; attempts: string }>();
      for (const [at, step] of steps.entries()) {
        const nowMs = NOW + at;
        if (step.kind === 'request') {
          const bytes = new Uint8Array(10).fill(at);
          const requestId = at % 5 === 0 ? `old-${at}` : createRequestId(nowMs, () => bytes);
          const ending = await playRequest(ledger, requestId, step, nowMs);
          if (ending !== undefined) ended.set(requestId, ending);
        } else if (step.kind === 'code') {
          const values = `'d${at}', 'm', 50, 'gift', 1`;
          await tamper(
            database,
            `INSERT INTO redemption_codes (digest, masked, amount, reason, created_at) VALUES (${values})`,
          );
          await ledger.redeem({ digest: `d${at}`, accountId: step.accountId, nowMs });
        } else {
          const { kind, isDownwards, reason } = step;
          const amount = micro(kind === 'adjustment' && isDownwards ? -step.amount : step.amount);
          const movement = { ...creditOf(`c${at}`, step.accountId, amount), kind, reason, nowMs };
          await unlessRefused(ledger.credit(movement));
        }
      }

      const { db } = database;
      for (const id of ACCOUNTS) {
        const state = await chainState(db, id);
        const booked = await new ReceiptReader(db).read(id, {
          limit: 1_000,
          order: 'oldest first',
        });
        const bodies = booked.map(({ receipt }) => receiptBody(receipt));
        expect(bodies.map(sha256)).toEqual(booked.map((each) => each.hash));
        expect([state?.sequence, state?.head]).toEqual([booked.length, booked.at(-1)?.hash]);
        const { problems, totals } = checkChain(bodies);
        expect(problems).toEqual([]);
        expect(totals.closingBalance).toBe((await books.balance(id)).posted);
        // However they are asked for, they say the same.
        const slice = await findSlice(db, id, undefined);
        const paged = slice && (await Array.fromAsync(receiptPages(db, id, slice, page)));
        expect(paged?.flat()).toEqual(bodies);
        const newest = await new ReceiptReader(db).read(id, { limit: page, order: 'newest first' });
        expect(newest).toEqual(booked.toReversed().slice(0, page));
        const moved = { limit: page, order: 'newest first', only: 'movements' } as const;
        expect(await new ReceiptReader(db).read(id, moved)).toEqual(
          booked
            .toReversed()
            .filter(({ receipt }) => receipt.kind !== 'request')
            .slice(0, page),
        );
        for (const each of booked) {
          const { receipt } = each;
          const subject = receipt.kind === 'request' ? receipt.requestId : receipt.transferId;
          expect(await findReceipt(db, subject)).toEqual(each);
          expect(readReceipt(receiptBody(receipt))).toMatchObject({ kind: receipt.kind });
        }
      }
      for (const [requestId, ending] of ended) {
        expect((await books.explain(requestId))?.record).toMatchObject(ending);
      }
      expect(await books.audit()).toEqual([]);
    });
    await fc.assert(law, { numRuns: samples(6, 200, 4), endOnFailure: true });
  }, 120_000);

  test('a slice of a month takes each receipt once, also where the clock was set back', async () => {
    await using open = await openBooks(directory);
    await addAccount(open, 'ada');
    for (const [at, nowMs] of [10, 20, 15, 30, 12, 40].entries()) {
      await open.ledger.credit({ ...creditOf(`c${at}`, 'ada', 1n), nowMs });
    }
    const slices = [0, 14, 25, 100].map((fromMs, at, bounds) =>
      findSlice(open.database.db, 'ada', { fromMs, untilMs: bounds[at + 1] ?? 1_000 }),
    );
    expect(await Promise.all(slices)).toEqual([
      { first: 1, last: 1 },
      { first: 2, last: 3 },
      { first: 4, last: 6 },
      undefined,
    ]);
  });

  test.each([
    ['two connections', true],
    ['one connection, where the order is not visible', false],
  ])('writers in turn keep one chain: %s', async (_name, apart) => {
    const first = await newDatabase(directory);
    const open = booksOver(first);
    const database = apart ? connectAgain(first) : open.database;
    const other = createLedger({ database });
    await addAccount(open, 'ada');
    for (let n = 0; n < 30; n += 1) {
      const ledger = n % 3 === 0 ? other : open.ledger;
      await ledger.credit(creditOf(`c${n}`, 'ada', 1n));
    }
    expect((await open.books.balance('ada')).posted).toBe(micro(30n));
    expect(await open.books.audit()).toEqual([]);
    await other.close();
    if (apart) await database.close();
    await closeBooks(open);
  });
});
