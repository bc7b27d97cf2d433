// The guard of an answer: its output is paid for at every instant, it is exact at the edge, and it
// withholds nothing that the balance covers. Other requests take from and add to the balance.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationEvent } from '../../src/core/generation.ts';
import {
  add,
  larger,
  micro,
  pico,
  smaller,
  subtract,
  tokenCount,
  ZERO,
} from '../../src/core/money.ts';
import { affordableOutput, coverAmount, holdAmount, type Price } from '../../src/core/price.ts';
import { Cover } from '../../src/generate/funded-output.ts';
import { Guard } from '../../src/generate/guard.ts';
import { OutputMeter } from '../../src/generate/meter.ts';
import type { Batch } from '../../src/upstream/attempt.ts';
import { FINISH } from './fixtures.ts';

/** One token a character, so that every token shows. */
const byLength = (text: string): number => text.length;

/** A token a byte: no tokenizer makes more. */
const dense = (text: string): number => Buffer.byteLength(text);

const PRICE: Price = {
  version: 'p',
  input: pico(1_000_000n),
  cachedInput: pico(100_000n),
  cacheWrite: pico(1_000_000n),
  output: pico(2_000_000n),
};
const PROMPT = tokenCount(10);

type Options = {
  /** Output tokens that the wallet could pay for in all. */
  readonly wallet: number;
  readonly outputBound: number;
  /** What a fallback was given, where that is less. */
  readonly fallbackBound?: number;
  readonly countNow?: (text: string) => number;
  /** Tokens that others take (or, below zero, bring) before each time that the ledger is asked. */
  readonly neighbours?: readonly number[];
  /** The ledger fails from this call on. */
  readonly failsAt?: number;
};

function setUp({ wallet, countNow = byLength, neighbours = [], ...options }: Options) {
  const amount = holdAmount(PROMPT, tokenCount(options.outputBound), PRICE, micro(1n));
  let available = subtract(coverAmount(PROMPT, tokenCount(wallet), PRICE), amount);
  if (available < 0n) throw new Error('the wallet does not pay for the first slice');
  let held = amount;
  let asked = 0;
  let aborts = 0;
  const outputBound = smaller(
    tokenCount(options.outputBound),
    affordableOutput(add(available, amount), PROMPT, PRICE),
  );
  const cover = new Cover({
    excess: micro(0n),
    ledger: {
      async extend(command) {
        await Promise.resolve();
        if (asked >= (options.failsAt ?? Infinity)) throw new Error('the disk is full');
        const taken = micro(BigInt(neighbours[asked] ?? 0) * 2n);
        available = larger(ZERO, subtract(available, taken));
        asked += 1;
        const more = subtract(command.amount, held);
        if (more > available) return { ok: false, available };
        available = subtract(available, more);
        held = command.amount;
        return { ok: true, available };
      },
    },
    requestId: 'req_1',
    price: PRICE,
    promptTokens: PROMPT,
    amount,
    outputBound,
    lowered: outputBound < options.outputBound,
  });
  const meter = new OutputMeter(countNow);
  const abort = () => {
    aborts += 1;
  };
  const guard = new Guard(meter, cover, options.fallbackBound ?? outputBound, { abort }, false);

  /** Passes batches through until one is the last, and looks at each of them. */
  async function run(batches: readonly Batch[]) {
    const events: GenerationEvent[] = [];
    let end: Batch['end'];
    for (const batch of batches) {
      const taken = await guard.take(batch);
      events.push(...taken.events);
      end = taken.end;
      const passed = countNow(textsOf(events).join(''));
      const isVouched = end === 'finished' && meter.reported() !== undefined;
      const paid = isVouched ? Math.min(passed, outputBound) : passed;
      expect(coverAmount(PROMPT, tokenCount(paid), PRICE)).toBeLessThanOrEqual(held);
      if (end !== undefined) break;
    }
    return { events, end, text: textsOf(events).join('') };
  }
  return {
    run,
    guard,
    meter,
    cover,
    outputBound,
    asked: () => asked,
    aborts: () => aborts,
    held: () => held,
    available: () => available,
  };
}

function textsOf(events: readonly GenerationEvent[]): string[] {
  return events.map((event) => {
    if (event.kind === 'tool-delta') return event.json;
    if (event.kind === 'tool-start') return event.name;
    return 'text' in event ? event.text : '';
  });
}

const event: fc.Arbitrary<GenerationEvent> = fc
  .tuple(
    fc.constantFrom('text', 'reasoning', 'tool'),
    fc.oneof(
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 0, max: 900 }),
      fc.constant(20_000),
    ),
    fc.constantFrom('x', ' a', '\u{1f600}', '漢'),
  )
  .map(([kind, length, unit]) => {
    const text = unit.repeat(length);
    if (kind === 'tool') return { kind: 'tool-delta', index: 0, json: text };
    return { kind: kind === 'text' ? 'text-delta' : 'reasoning-delta', text };
  });

const answer: fc.Arbitrary<Batch[]> = fc
  .array(fc.array(event, { maxLength: 12 }), { minLength: 1, maxLength: 30 })
  .map((reads) => [
    ...reads.map((events) => ({ events })),
    { events: [FINISH], end: 'finished' as const },
  ]);

test('law: for any stream and any other spending, nothing unpaid passes, and nothing paid is held back', async () => {
  await fc.assert(
    fc.asyncProperty(
      answer,
      fc.integer({ min: 4_096, max: 30_000 }),
      fc.integer({ min: 4_097, max: 40_000 }),
      fc.array(fc.integer({ min: -2_000, max: 6_000 }), { maxLength: 12 }),
      fc.constantFrom(byLength, dense),
      fc.option(fc.nat(45_000), { nil: undefined }),
      async (batches, wallet, outputBound, neighbours, countNow, reported) => {
        const rig = setUp({ wallet, outputBound, neighbours, countNow });
        const whole = textsOf(batches.flatMap((batch) => batch.events)).join('');
        const usageReport = reported === undefined ? [] : [usageOf(Math.min(reported, 2 ** 30))];
        const last: Batch = { events: [...usageReport, FINISH], end: 'finished' };
        const { events, end, text } = await rig.run([...batches.slice(0, -1), last]);
        expect(end).toBe('finished');
        expect(whole.startsWith(text)).toBe(true);
        expect(rig.available()).toBeGreaterThanOrEqual(0n);
        const isEdge = outputBound > rig.outputBound;
        if (!rig.guard.hasCut() && countNow(whole) <= rig.outputBound) {
          expect([text, rig.aborts()]).toEqual([whole, 0]);
          return;
        }
        if (!rig.guard.hasCut()) {
          const keptBound = reported !== undefined && reported <= rig.outputBound;
          if (keptBound && text === whole) return;
          // What is beyond the bound, and not vouched for, is neither passed on nor charged.
          expect([events.at(-1), isEdge]).toEqual([{ kind: 'finish', reason: 'length' }, false]);
          expect(countNow(text)).toBeLessThanOrEqual(rig.outputBound);
          expect(countNow(whole.slice(0, text.length + 2))).toBeGreaterThan(rig.outputBound);
          expect(rig.meter.estimate(PROMPT).outputTokens).toBe(countNow(text));
          if (keptBound) expect(countNow(whole)).toBeGreaterThan(rig.outputBound * 2);
          return;
        }
        expect([events.at(-1), rig.aborts()]).toEqual([{ kind: 'finish', reason: 'length' }, 1]);
        // The next character would not have been covered, and what is left would not have paid it.
        const next = whole.slice(0, text.length + 2);
        expect(countNow(next)).toBeGreaterThan(rig.cover.tokens());
        if (rig.cover.canGrow()) {
          expect(affordableOutput(add(rig.held(), rig.available()), PROMPT, PRICE)).toBe(
            rig.cover.tokens(),
          );
        }
      },
    ),
    { numRuns: 200 },
  );
}, 30_000);

const words = (count: number, size = 1): GenerationEvent[] =>
  Array.from({ length: count }, () => ({ kind: 'text-delta', text: 'x'.repeat(size) }));

function usageOf(outputTokens: number): GenerationEvent {
  const counts = { inputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return { kind: 'usage', usage: { ...counts, outputTokens, basis: 'reported' } };
}

const LAST: Batch = { events: [FINISH], end: 'finished' };

test('an answer within its first slice makes no ledger call', async () => {
  const rig = setUp({ wallet: 4_096, outputBound: 4_096 });
  const { text, end } = await rig.run([{ events: words(4_096) }, LAST]);
  expect([text.length, end, rig.asked()]).toEqual([4_096, 'finished', 0]);
});

test('without growth a read comes back as it is, at once', () => {
  const rig = setUp({ wallet: 4_096, outputBound: 4_096 });
  const batch: Batch = { events: words(100) };
  expect(rig.guard.take(batch)).toBe(batch);
});

test('the next slice is bought before it is needed, while the answer goes on', async () => {
  const rig = setUp({ wallet: 30_000, outputBound: 10_000 });
  const early: Batch = { events: words(3_400) };
  expect(rig.guard.take(early)).toBe(early);
  await new Promise((resolve) => setImmediate(resolve));
  expect([rig.asked(), rig.cover.tokens()]).toEqual([1, 8_192]);
  const late: Batch = { events: words(3_000) };
  expect(rig.guard.take(late)).toBe(late);
});

test('a slice that is on its way is waited for, and not bought twice', async () => {
  const rig = setUp({ wallet: 30_000, outputBound: 20_000 });
  const { text } = await rig.run([{ events: words(3_400) }, { events: words(1_500) }]);
  expect([text.length, rig.asked(), rig.cover.tokens()]).toEqual([4_900, 1, 8_192]);
});

describe('beyond the bound that the upstream was given', () => {
  const rig = () => setUp({ wallet: 30_000, outputBound: 5_000 });
  const beyond: Batch = { events: words(5_300) };
  const reportOf = (outputTokens: number): Batch => ({
    events: [usageOf(outputTokens), FINISH],
    end: 'finished',
  });

  test('nothing is passed on without a report, and what was passed on is counted', async () => {
    const { run, guard, meter, held } = rig();
    const { text, events } = await run([beyond, LAST]);
    expect([text.length, guard.hasCut(), meter.tokens()]).toEqual([5_000, false, 5_000]);
    expect(events.at(-1)).toEqual({ kind: 'finish', reason: 'length' });
    expect(held()).toBe(coverAmount(PROMPT, tokenCount(5_000), PRICE));
  });

  test('nothing is passed on where the report says so', async () => {
    const { run, meter } = rig();
    const { text } = await run([beyond, reportOf(5_001)]);
    expect([text.length, meter.tokens()]).toEqual([5_000, 5_000]);
    expect(meter.reported()).toMatchObject({ outputTokens: 5_001 });
  });

  test('what another tokenizer counts within it is passed on, once the report says so', async () => {
    const { run, guard, aborts } = rig();
    const { text } = await run([beyond, { events: words(10) }, reportOf(5_000)]);
    expect([text.length, guard.hasCut(), aborts()]).toEqual([5_310, false, 0]);
  });

  test('an upstream that breaks there has delivered no more than the bound', async () => {
    const { run, meter } = rig();
    const cut = { class: 'cut', detail: 'the connection was cut' } as const;
    const { text, end } = await run([beyond, { events: words(10), end: cut }]);
    expect([text.length, end, meter.tokens()]).toEqual([5_000, cut, 5_000]);
  });

  test('an upstream that goes far beyond is stopped, before it reports', async () => {
    const { run, aborts, meter } = rig();
    const { text } = await run([beyond, { events: words(5_000) }, reportOf(5_000)]);
    expect([text.length, aborts(), meter.reported()]).toEqual([5_000, 1, undefined]);
  });

  test('the bound of a fallback is its own', async () => {
    const { run, guard, asked } = setUp({ wallet: 30_000, outputBound: 9_000, fallbackBound: 50 });
    const { text } = await run([{ events: words(90) }, LAST]);
    expect([text.length, guard.hasCut(), asked()]).toEqual([50, false, 0]);
  });
});

test('a bound that is the balance is an edge, and all of the balance is spent on the way to it', async () => {
  const rig = setUp({ wallet: 6_001, outputBound: 32_000 });
  const { text, events } = await rig.run([{ events: words(9_000, 1) }, LAST]);
  expect([text.length, rig.available()]).toEqual([6_001, micro(0n)]);
  expect(events.at(-1)).toEqual({ kind: 'finish', reason: 'length' });
});

test('what the upstream made beyond the edge is counted, and its report is not believed', async () => {
  const rig = setUp({ wallet: 20_000, outputBound: 20_000, neighbours: [30_000] });
  const { text } = await rig.run([
    { events: [...words(5, 1_000), usageOf(7), FINISH], end: 'finished' },
  ]);
  expect(text.length).toBe(4_096);
  expect(rig.meter.estimate(PROMPT).outputTokens).toBe(5_000);
  expect([rig.meter.reported(), rig.meter.finish()]).toEqual([undefined, undefined]);
});

test('money that comes while the answer runs lets it go on', async () => {
  // Another request takes all that is left; then a top-up covers it.
  const rig = setUp({ wallet: 9_000, outputBound: 9_000, neighbours: [9_000, -9_000] });
  await rig.run([{ events: words(3_500) }]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(rig.cover.tokens()).toBe(tokenCount(4_096));
  const { text, end } = await rig.run([{ events: words(4_000) }, LAST]);
  expect([text.length, end, rig.guard.hasCut()]).toEqual([4_000, 'finished', false]);
  // From then on it buys ahead again: all of the bound is there before it is needed.
  expect([rig.asked(), rig.cover.tokens()]).toEqual([3, 9_000]);
});

test('a ledger that cannot be asked ends the answer as our failure, after all that is paid', async () => {
  const rig = setUp({ wallet: 30_000, outputBound: 20_000, failsAt: 0 });
  const { text, end } = await rig.run([{ events: words(9_000) }, LAST]);
  expect(text.length).toBe(4_096);
  expect([end, rig.guard.hasCut(), rig.aborts()]).toEqual([
    { class: 'gateway', detail: 'the ledger could not reserve money for the rest of the answer' },
    false,
    1,
  ]);
});

test('a ledger that fails ahead of need and is back at need does no harm', async () => {
  let fails = true;
  const cover = new Cover({
    excess: micro(0n),
    ledger: {
      async extend() {
        if (fails) throw new Error('busy');
        return { ok: true, available: micro(0n) };
      },
    },
    requestId: 'req_1',
    price: PRICE,
    promptTokens: PROMPT,
    amount: holdAmount(PROMPT, tokenCount(9_000), PRICE, micro(1n)),
    outputBound: tokenCount(9_000),
    lowered: false,
  });
  const meter = new OutputMeter(byLength);
  const guard = new Guard(meter, cover, 9_000, { abort: () => {} }, false);
  await guard.take({ events: words(4_000) });
  await new Promise((resolve) => setImmediate(resolve));
  fails = false;
  expect((await guard.take({ events: words(1_000) })).events.length).toBe(1_000);
});

test('a call is cut in its arguments, and never in its name', async () => {
  const start: GenerationEvent = { kind: 'tool-start', index: 0, id: 'c', name: 'n'.repeat(50) };
  const json: GenerationEvent = { kind: 'tool-delta', index: 0, json: 'y'.repeat(90) };
  const inside = setUp({ wallet: 4_196, outputBound: 9_000 });
  const cutInside = await inside.run([{ events: [...words(4_096), start, json] }]);
  expect(cutInside.events.slice(-3)).toEqual([
    start,
    { ...json, json: 'y'.repeat(50) },
    { kind: 'finish', reason: 'length' },
  ]);
  const before = setUp({ wallet: 4_130, outputBound: 9_000 });
  const cutBefore = await before.run([{ events: [...words(4_096), start, json] }]);
  expect(cutBefore.events.length).toBe(4_097);
});
