// Commands and answers between the threads of the ledger: each arrives as it was sent.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BASES, DOUBTS, OUTCOMES } from '../../src/core/generation.ts';
import { micro, tokenCount, usdRate, ZERO } from '../../src/core/money.ts';
import type { Price } from '../../src/core/price.ts';
import { answers, type SentAnswer } from '../../src/ledger/answers.ts';
import type { LedgerRequest } from '../../src/ledger/contract.ts';
import { packError } from '../../src/ledger/error.ts';
import { FieldReader, type Fields, FieldWriter } from '../../src/ledger/fields.ts';
import { commands } from '../../src/ledger/protocol.ts';
import { anyPricedPrice } from '../support/price-terms.ts';

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[a-z]{0,20}$/));
const few = fc.constantFrom('west', 'east', '', '🙂', '\ud800');
const amount = fc
  .oneof(fc.bigInt(0n, 10n ** 6n), fc.bigInt(-(10n ** 18n), 10n ** 18n), fc.bigInt())
  .map(micro);
const tokens = fc.maxSafeNat().map(tokenCount);
const nowMs = fc.oneof(fc.maxSafeNat(), fc.double({ min: 0, max: 2 ** 41, noNaN: true }));
/** A version always stands for the same price. */
const versions = new Map<string, Price>();
const price = fc
  .tuple(fc.nat(50), anyPricedPrice)
  .map(([number, each]) => versions.getOrInsert(`v${number}`, { ...each, version: `v${number}` }));
const served = fc.record({ model: few, upstream: few, price });
const count = fc.nat(10 ** 9);
const estimate = fc.record(
  { counted: count, seen: count, quietMs: count, quietTokens: count, pace: count },
  { requiredKeys: ['seen', 'quietMs', 'quietTokens', 'pace'] },
);
const usage = fc.record(
  {
    ...{ inputTokens: count, cachedInputTokens: count, cacheWriteTokens: count },
    ...{ outputTokens: count, reasoningTokens: count, basis: fc.constantFrom(...BASES) },
    ...{ cachedExplicitTokens: count, cacheWriteLongTokens: count, estimate },
    ...{ serviceTier: fc.constantFrom('fast', 'flex'), doubt: fc.constantFrom(...DOUBTS) },
  },
  {
    requiredKeys: [
      ...(['inputTokens', 'cachedInputTokens', 'cacheWriteTokens'] as const),
      ...(['outputTokens', 'reasoningTokens', 'basis'] as const),
    ],
  },
);
const by = fc.record({ operationId: text, actor: text, address: fc.option(text) });
const limit = fc.option(amount);

const ended = {
  ...{ requestId: text, outcome: fc.constantFrom(...OUTCOMES), usage, attempts: text, nowMs },
  usdPerMillion: fc.bigInt(0n, 10n ** 12n).map(usdRate),
};
const mayEnd = {
  served,
  failure: fc.constantFrom('internal', 'timeout:announced'),
  rawUsage: text,
};
const required = ['requestId', 'outcome', 'usage', 'attempts', 'nowMs', 'usdPerMillion'] as const;

const COMMANDS: { readonly [Name in LedgerRequest['name']]: fc.Arbitrary<object> } = {
  hold: fc.record(
    {
      ...{
        requestId: text,
        accountId: few,
        keyId: few,
        format: fc.constantFrom('chat', 'messages'),
      },
      ...{ stream: fc.boolean(), model: few, price, amount, promptTokens: tokens, nowMs },
      ...{ outputBound: tokens, family: few, endUser: text, excess: amount, hidden: amount },
      boot: few,
    },
    {
      requiredKeys: [
        ...(['requestId', 'accountId', 'keyId', 'format', 'stream', 'model', 'price'] as const),
        ...(['amount', 'promptTokens', 'outputBound', 'nowMs'] as const),
      ],
    },
  ),
  extend: fc.record(
    { requestId: text, amount, excess: amount },
    { requiredKeys: ['requestId', 'amount'] },
  ),
  checkpoint: fc.record({
    requestId: text,
    served,
    outputTokens: count,
    reasoningTokens: count,
    nowMs,
  }),
  settle: fc.record(
    { ...ended, ...mayEnd, charge: amount, withinHold: fc.boolean() },
    { requiredKeys: [...required, 'charge'] },
  ),
  release: fc.record({ ...ended, ...mayEnd }, { requiredKeys: [...required] }),
  recover: fc.record(
    {
      ...{ incarnations: fc.array(text), live: fc.array(text), createdBefore: count, nowMs: count },
      ...{ phase: fc.constantFrom('ended', 'expired'), usdPerMillion: ended.usdPerMillion },
    },
    { requiredKeys: ['live', 'createdBefore', 'nowMs', 'phase', 'usdPerMillion'] },
  ),
  credit: fc.record(
    {
      ...{ creditId: text, accountId: text, kind: fc.constantFrom('credit', 'adjustment') },
      ...{ amount, reason: text, by, nowMs: count },
    },
    { requiredKeys: ['creditId', 'accountId', 'kind', 'amount', 'reason', 'nowMs'] },
  ),
  redeem: fc.record(
    { digest: text, accountId: text, by, nowMs: count },
    { requiredKeys: ['digest', 'accountId', 'nowMs'] },
  ),
  budget: fc.record(
    {
      ...{ accountId: text, family: text, keyId: text, by, nowMs: count },
      limits: fc.record({ total: limit, day: limit, month: limit }, { requiredKeys: [] }),
    },
    { requiredKeys: ['accountId', 'family', 'keyId', 'limits', 'nowMs'] },
  ),
};

const result = fc.oneof(
  fc.record({ ok: fc.boolean(), available: amount }),
  fc.record({
    ok: fc.boolean(),
    available: amount,
    uncovered: fc.record({ room: amount, openHolds: count }),
  }),
  fc.record({ ok: fc.boolean(), available: amount, budget: fc.record({ left: amount }) }),
  fc.record({
    ...{ ok: fc.boolean(), available: amount },
    budget: fc.record({
      ...{ period: fc.constantFrom('total', 'day', 'month'), rest: amount, room: amount },
      openHolds: count,
    }),
  }),
);
const settlement = fc
  .tuple(
    fc.record({ debited: amount, loss: amount, available: amount }),
    fc.constantFrom({}, { restricted: true }, { counted: true }),
  )
  .map(([amounts, more]) => ({ ...amounts, ...more }));

const RESULTS: Readonly<Record<LedgerRequest['name'], fc.Arbitrary<unknown>>> = {
  ...{ hold: result, extend: result, settle: settlement, release: settlement },
  checkpoint: fc.constant(undefined),
  recover: fc.array(fc.record({ requestId: text, accountId: text, debited: amount })),
  credit: fc.record({ available: amount, applied: fc.boolean() }),
  redeem: fc.oneof(
    fc.record({ kind: fc.constant('redeemed'), amount, available: amount }),
    fc.record({ kind: fc.constant('refused'), why: fc.constantFrom('unknown', 'used') }),
  ),
  budget: fc.record({
    limits: fc.record({ total: limit, day: limit, month: limit }),
    spend: fc.record({ total: amount, day: count }),
  }),
};

const error = fc
  .tuple(text, text)
  .map(([message, cause]) => packError(new RangeError(message, { cause })));

/** A command and its answer. */
const exchange = fc
  .constantFrom(...(Object.keys(COMMANDS) as LedgerRequest['name'][]))
  .chain((name) =>
    fc.record({
      request: COMMANDS[name].map((command) => ({ name, command }) as LedgerRequest),
      answer: fc.oneof(
        RESULTS[name].map((given): SentAnswer => ({ ok: true, result: given })),
        error.map((given): SentAnswer => ({ ok: false, error: given })),
        fc.constant(null),
      ),
    }),
  );

/** One direction of a connection: each end is in another thread. */
function createLine() {
  const writing = new FieldWriter();
  const reading = new FieldReader();
  return <Value>(
    given: Value,
    none: Value,
    layout: (fields: Fields, given: Value) => Value,
  ): Value => {
    layout(writing, given);
    reading.open(writing.take());
    return layout(reading, none);
  };
}

/** What a layout adds: amounts that are absent are zero. */
function whole({ name, command }: LedgerRequest): LedgerRequest {
  const isEnd = name === 'settle' || name === 'release';
  const filled = {
    ...(name === 'hold' && { excess: ZERO, hidden: ZERO }),
    ...(name === 'extend' && { excess: ZERO }),
    ...(isEnd && { charge: ZERO, withinHold: false }),
    ...command,
  };
  return { name, command: filled } as LedgerRequest;
}

test('law: commands and answers arrive as they were sent', () => {
  const batches = fc.array(fc.array(exchange, { maxLength: 20 }), { maxLength: 5 });
  fc.assert(
    fc.property(batches, (sent) => {
      const post = createLine();
      const reply = createLine();
      for (const batch of sent) {
        const requests = batch.map(({ request }) => request);
        const answered = batch.map(({ answer }) => answer);
        expect(post<readonly LedgerRequest[]>(requests, [], commands)).toEqual(requests.map(whole));
        const inBatch = (fields: Fields, given: readonly SentAnswer[]) =>
          answers(fields, requests, given);
        expect(reply<readonly SentAnswer[]>(answered, [], inBatch)).toEqual(answered);
      }
    }),
  );
});

test('a name is sent once, until a connection has seen very many', () => {
  const post = createLine();
  const named = (fields: Fields, given: readonly string[]) =>
    fields.list(given, (each, name) => each.name(name));
  const names = Array.from({ length: 25_000 }, (_, index) => `name-${index}`);
  const again = [...names, ...names.slice(-5_000), ...names.slice(0, 5_000)];
  expect(post<readonly string[]>(again, [], named)).toEqual(again);

  const writing = new FieldWriter();
  const lengths = ['west', 'west', 'east'].map((name) => {
    writing.name(name);
    return writing.take().length;
  });
  expect(lengths).toEqual([30, 16, 30]);
});

test('a message that lacks fields is rejected', () => {
  const reading = new FieldReader();
  const writing = new FieldWriter();
  writing.number(1);
  reading.open(writing.take());
  expect(() => commands(reading, [])).toThrow(RangeError);
});
