// Receipts: the content of the text, its canonical form, and that a chain of them detects every
// kind of change.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Usage } from '../../src/core/generation.ts';
import { add, micro, pico, subtract, usdRate, ZERO } from '../../src/core/money.ts';
import { chargeServed, type Price } from '../../src/core/price.ts';
import {
  type AccountReceipt,
  NO_PREVIOUS_RECEIPT,
  type RequestReceipt,
  readReceipt,
  receiptBody,
} from '../../src/core/receipt.ts';
import { checkChain, sha256 } from '../support/receipt-chain.ts';

const NOW = 1_795_248_274_894;

const PRICE: Price = {
  version: 'swift-1@1',
  input: pico(150_000n),
  cachedInput: pico(30_000n),
  cacheWrite: pico(200_000n),
  output: pico(600_000n),
};
const DEARER: Price = {
  ...PRICE,
  version: 'grand-1@1',
  input: pico(900_000n),
  output: pico(9_000_000n),
};

const USAGE: Usage = {
  inputTokens: 90,
  cachedInputTokens: 40,
  cacheWriteTokens: 10,
  outputTokens: 12,
  reasoningTokens: 5,
  basis: 'reported',
};

const REQUEST: RequestReceipt = {
  kind: 'request',
  accountId: 'acc_1',
  sequence: 2,
  previous: 'ab'.repeat(32),
  posted: micro(984_000n),
  available: micro(900_000n),
  requestId: 'req_1',
  startedAt: NOW,
  endedAt: NOW + 1_250,
  model: 'swift-1',
  modelServed: 'grand-1',
  outcome: 'completed',
  usage: USAGE,
  price: PRICE,
  priceServed: DEARER,
  held: micro(500_000n),
  charged: micro(16n),
  debited: micro(16n),
  loss: micro(0n),
  usdPerMillion: usdRate(1_000_000n),
};

const CREDIT: AccountReceipt = {
  kind: 'credit',
  accountId: 'acc_1',
  sequence: 1,
  previous: NO_PREVIOUS_RECEIPT,
  posted: micro(1_000_000n),
  available: micro(1_000_000n),
  transferId: 'credit:first',
  at: NOW,
  amount: micro(1_000_000n),
};

describe('the text of a receipt', () => {
  test('a request, in every member', () => {
    expect(receiptBody(REQUEST)).toBe(
      '{"version":1,"account":"acc_1","sequence":2,' +
        `"previous":"${'ab'.repeat(32)}","kind":"request","id":"req_1",` +
        '"started_at":"2026-11-21T08:04:34.894Z","ended_at":"2026-11-21T08:04:36.144Z",' +
        '"model":"swift-1","model_served":"grand-1","outcome":"completed",' +
        '"usage":{"input_tokens":90,"cached_input_tokens":40,"cache_write_tokens":10,' +
        '"output_tokens":12,"reasoning_tokens":5,"basis":"reported"},' +
        '"price":{"version":"swift-1@1","input":"0.00000015","cached_input":"0.00000003",' +
        '"cache_write":"0.0000002","output":"0.0000006"},' +
        '"price_served":{"version":"grand-1@1","input":"0.0000009","cached_input":"0.00000003",' +
        '"cache_write":"0.0000002","output":"0.000009"},' +
        '"held":"0.5","charged":"0.000016","debited":"0.000016","loss":"0",' +
        '"usd_per_million":"1","balance":"0.984","available":"0.9"}',
    );
  });

  test('a movement, in every member', () => {
    expect(receiptBody(CREDIT)).toBe(
      `{"version":1,"account":"acc_1","sequence":1,"previous":"${'0'.repeat(64)}",` +
        '"kind":"credit","id":"credit:first","at":"2026-11-21T08:04:34.894Z","amount":"1",' +
        '"balance":"1","available":"1"}',
    );
  });

  test('where no upstream answered, there is no model and no second price', () => {
    const body = receiptBody({ ...REQUEST, modelServed: null, priceServed: null });
    expect(body).toContain('"model_served":null,');
    expect(body).toContain('"price_served":null,');
  });

  test('law: what is written is read back, for all names and numbers', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 18n }).map(micro);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), amount, amount, (name, posted, charged) => {
        const receipt = { ...REQUEST, model: name, requestId: name, posted, charged };
        expect(readReceipt(receiptBody(receipt))).toEqual(receipt);
      }),
    );
  });

  const body = receiptBody(REQUEST);
  const unreadable: readonly (readonly [string, string])[] = [
    ['no JSON', 'receipt'],
    ['no object', 'null'],
    ['white space', body.replace(',', ', ')],
    ['another order', body.replace('{"version":1,', '{').replace(/}$/, ',"version":1}')],
    ['another version', body.replace('"version":1', '"version":2')],
    ['a member more', body.replace('{', '{"note":"",')],
    ['a member less', body.replace('"loss":"0",', '')],
    ['an unknown kind', body.replace('"kind":"request"', '"kind":"gift"')],
    ['an unknown outcome', body.replace('completed', 'finished')],
    ['an unknown basis', body.replace('reported', 'guessed')],
    ['an amount as a number', body.replace('"loss":"0"', '"loss":0')],
    ['an amount with a zero more', body.replace('"0.984"', '"0.9840"')],
    ['an amount that is none', body.replace('"0.984"', '"0,984"')],
    ['a count with a fraction', body.replace('"output_tokens":12', '"output_tokens":12.5')],
    ['an instant that is none', body.replace('2026-11-21T08:04:36', '2026-11-31T08:04:36')],
    ['usage that is none', body.replace(/"usage":\{[^}]*\}/, '"usage":null')],
  ];
  test.each(unreadable)('%s is not read', (_, changed) => {
    expect(changed).not.toBe(body);
    expect(readReceipt(changed)).toBeUndefined();
  });
});

/** A chain of an opening credit and then requests and movements as they are given. */
function chainOf(amounts: readonly bigint[], opening = 10_000_000n): AccountReceipt[] {
  const chain: AccountReceipt[] = [];
  let previous = NO_PREVIOUS_RECEIPT;
  let posted = ZERO;
  for (const amount of [opening, ...amounts].map(micro)) {
    const cost = chargeServed(USAGE, PRICE, DEARER);
    posted = amount === 0n ? subtract(posted, cost) : add(posted, amount);
    const link = { accountId: 'acc_1', sequence: chain.length + 1, previous };
    const balance = { posted, available: posted };
    const request = { ...REQUEST, ...link, ...balance, charged: cost, debited: cost };
    const kind = amount < 0n ? ('adjustment' as const) : ('grant' as const);
    const receipt: AccountReceipt =
      amount === 0n
        ? request
        : { ...link, ...balance, kind, amount, transferId: `credit:${link.sequence}`, at: NOW };
    chain.push(receipt);
    previous = sha256(receiptBody(receipt));
  }
  return chain;
}

/** The same receipts with their hashes recomputed, as a forger would. */
function relink(chain: readonly AccountReceipt[]): string[] {
  let previous = chain[0]?.previous ?? NO_PREVIOUS_RECEIPT;
  return chain.map((receipt) => {
    const body = receiptBody({ ...receipt, previous });
    previous = sha256(body);
    return body;
  });
}

const CHAIN = chainOf([0n, 500n, 0n, -300n, 0n]);
const BODIES = CHAIN.map(receiptBody);
const problemsOf = (bodies: readonly string[]): string[] =>
  checkChain(bodies).problems.map(({ kind, sequence }) => `${kind} ${sequence}`);

/** `CHAIN` with one receipt changed and every hash recomputed: only arithmetic detects it. */
function forged(index: number, change: Partial<RequestReceipt>): string[] {
  return problemsOf(
    relink(
      CHAIN.map((receipt, at) =>
        at === index ? ({ ...receipt, ...change } as AccountReceipt) : receipt,
      ),
    ),
  );
}

describe('a chain', () => {
  test('is added up', () => {
    expect(checkChain(BODIES)).toEqual({
      problems: [],
      totals: {
        accountId: 'acc_1',
        first: 1,
        last: 6,
        requests: 3,
        movements: 3,
        debited: micro(48n),
        loss: micro(0n),
        credited: micro(10_000_200n),
        openingBalance: micro(0n),
        closingBalance: micro(10_000_152n),
        previous: NO_PREVIOUS_RECEIPT,
        head: sha256(BODIES[5] ?? ''),
      },
    });
  });

  test('an empty one is nothing wrong', () => {
    expect(checkChain([])).toMatchObject({ problems: [], totals: { first: 0, last: 0 } });
  });

  test('a slice takes what it begins with as given', () => {
    const { problems, totals } = checkChain(BODIES.slice(2));
    expect(problems).toEqual([]);
    expect(totals).toMatchObject({ first: 3, last: 6, openingBalance: micro(9_999_984n) });
  });

  test('a dropped receipt is missing', () => {
    expect(problemsOf(BODIES.toSpliced(2, 1))).toEqual(['missing 3']);
    expect(problemsOf(BODIES.toSpliced(2, 2))).toEqual(['missing 3']);
  });

  test('a swapped pair is missing one and finds it too late', () => {
    const [a = '', b = ''] = BODIES.slice(2, 4);
    expect(problemsOf(BODIES.toSpliced(2, 2, b, a))).toEqual(['missing 3', 'order 3']);
  });

  test('a repeated receipt comes too late', () => {
    expect(problemsOf(BODIES.toSpliced(3, 0, BODIES[2] ?? ''))).toEqual(['order 3']);
  });

  test('an inserted receipt of another account, and an inserted line', () => {
    const other = receiptBody({ ...CREDIT, accountId: 'acc_2' });
    expect(problemsOf(BODIES.toSpliced(2, 0, other))).toEqual(['account 3']);
    expect(problemsOf(BODIES.toSpliced(2, 0, 'a note'))).toEqual(['unreadable 3']);
  });

  test('a changed receipt is detected by the next one', () => {
    const changed = BODIES.with(1, (BODIES[1] ?? '').replace('swift-1', 'swift-2'));
    expect(problemsOf(changed)).toEqual(['changed 2']);
  });

  test('a changed number is distinguished from a gap', () => {
    const numbers = relink(CHAIN.with(2, { ...CHAIN[2], sequence: 9 } as AccountReceipt));
    expect(problemsOf(numbers)).toEqual(['order 3']);
  });

  test('only the first receipt of all names none before it', () => {
    expect(problemsOf([receiptBody({ ...CREDIT, sequence: 4 })])).toEqual(['beginning 4']);
    expect(problemsOf([receiptBody({ ...CREDIT, previous: 'ab'.repeat(32) })])).toEqual([
      'beginning 1',
    ]);
  });

  test('arithmetic is checked even where every hash fits', () => {
    expect(forged(1, { charged: micro(17n), debited: micro(17n) })).toEqual([
      'charge 2',
      'balance 2',
    ]);
    expect(forged(1, { loss: micro(1n) })).toEqual(['debit 2']);
    expect(forged(1, { debited: micro(-16n), loss: micro(32n) })).toEqual(['debit 2', 'balance 2']);
    expect(forged(1, { posted: micro(9_999_985n), available: micro(0n) })).toEqual([
      'balance 2',
      'balance 3',
    ]);
    expect(forged(1, { available: micro(10n ** 8n) })).toEqual(['balance 2']);
    expect(forged(1, { available: micro(-1n) })).toEqual(['balance 2']);
    expect(forged(1, { usage: { ...USAGE, outputTokens: 13 } })).toEqual(['charge 2']);
    expect(forged(1, { modelServed: null })).toEqual(['charge 2']);
    expect(forged(1, { priceServed: null })).toEqual([]);
    expect(forged(1, { priceServed: { ...PRICE, output: pico(1n) } })).toEqual(['charge 2']);
  });

  test('what was not completed may cost no more than its hold, and then exactly that', () => {
    const usage: Usage = { ...USAGE, outputTokens: 400 };
    for (const outcome of ['client_cancelled', 'stopped_balance', 'gateway_failed'] as const) {
      expect(forged(1, { outcome, held: micro(16n) })).toEqual([]);
      expect(forged(1, { outcome, usage, held: micro(16n) })).toEqual([]);
      expect(forged(1, { outcome, usage, held: micro(17n) })).toEqual(['charge 2']);
    }
    expect(forged(1, { usage, held: micro(16n) })).toEqual(['charge 2']);
  });

  test('law: no character can be changed, but in the last receipt alone without its hash', () => {
    const text = BODIES.join('\n');
    const { head } = checkChain(BODIES).totals;
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.oneof(fc.string({ minLength: 1, maxLength: 1 }), fc.constantFrom('0', '1', '9', '"')),
        (at, character) => {
          fc.pre(text[at] !== character);
          const changed = `${text.slice(0, at)}${character}${text.slice(at + 1)}`;
          const { problems, totals } = checkChain(changed.split('\n'));
          expect(problems.length > 0 || totals.head !== head).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
