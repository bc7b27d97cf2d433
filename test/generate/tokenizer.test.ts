// Every character of a prompt is counted, close to the real count for any text, in parts that yield
// to the event loop, and within each account's counting limit.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { GatewayError } from '../../src/core/error.ts';
import { BUILT_IN_PLANS, countedCharacters, type Plan } from '../../src/core/plan.ts';
import { createTokenizer, loadTokenizer, pieces } from '../../src/generate/tokenizer.ts';
import { cpuTimer } from '../support/cpu-time.ts';

const [smallest] = BUILT_IN_PLANS;
if (smallest === undefined) throw new Error('there are no plans');
/** Nothing here reaches the bound of this one. */
const PLAN: Plan = { ...smallest, tokensPerMinute: 1_000_000_000 };

const still = (): number => 0;
const tokenizer = await loadTokenizer(still);

const count = async (text: string, accountId = 'acc'): Promise<number> =>
  tokenizer.counterFor(accountId, PLAN)([text]);

/** A tokenizer of one token a piece, and how many characters it has been given. */
function createTally(monotonic: () => number = still) {
  const tally = { characters: 0, longest: 0 };
  const counting = createTokenizer((piece) => {
    tally.characters += piece.length;
    tally.longest = Math.max(tally.longest, piece.length);
    return 1;
  }, monotonic);
  return { tally, counting };
}

/**
 * The processor time of the longest turn of the loop. Other processes of a busy machine lengthen
 * each turn, but not this.
 */
async function longestTurnMs(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  let cpuMs = cpuTimer();
  let running = true;
  const watch = (): void => {
    longest = Math.max(longest, cpuMs());
    cpuMs = cpuTimer();
    if (running) setImmediate(watch);
  };
  setImmediate(watch);
  await work;
  running = false;
  return longest;
}

describe('pieces', () => {
  test('cut every text without losing or splitting a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (text) => {
        const cut = [...pieces(text)];
        expect(cut.join('')).toBe(text);
        for (const piece of cut) {
          expect(piece.length).toBeLessThanOrEqual(512);
          expect(piece.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  test('prefer to cut at a space', () => {
    const [first] = pieces(`${'a'.repeat(400)} ${'b'.repeat(400)}`);
    expect(first).toBe('a'.repeat(400));
  });
});

describe('counting', () => {
  test('knows its vocabulary', async () => {
    expect(await count('hello world')).toBe(2);
    expect(tokenizer.countNow('hello world')).toBe(2);
    expect(await tokenizer.counterFor('acc', PLAN)([])).toBe(0);
  });

  test('text that looks like a special token is plain text', async () => {
    expect(await count('<|endoftext|>')).toBeGreaterThan(1);
  });

  test('lone surrogates are counted, not thrown at', async () => {
    expect(await count('\ud800 and \udfff')).toBeGreaterThan(1);
  });

  test('the same text always has the same count, at once or in turns, alone or among others', async () => {
    const texts = ['x'.repeat(700), 'two words '.repeat(3_000), '漢字'.repeat(50_000)];
    const counts = await Promise.all(texts.map((text) => count(text, 'first')));
    expect(texts.map(tokenizer.countNow)).toEqual(counts);
    expect(await Promise.all(texts.map((text) => count(text, 'first')))).toEqual(counts);
    const together = await tokenizer.counterFor('second', PLAN)(texts);
    expect(together).toBe(counts.reduce((sum, tokens) => sum + tokens, 0));
  });

  test('no piece is longer than merging can bear, and every character is in one', async () => {
    for (const length of [512, 513, 5_000, 50_000, 500_000]) {
      const { tally, counting } = createTally();
      counting.countNow('漢'.repeat(length));
      expect(tally).toEqual({ characters: length, longest: 512 });
      await counting.counterFor('acc', PLAN)(['字'.repeat(length)]);
      expect(tally).toEqual({ characters: 2 * length, longest: 512 });
    }
  });
});

/** Drawn by a seed: the same texts every time. */
function createDraw(seed: number) {
  let state = seed;
  const below = (end: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % end;
  };
  const times = (length: number, one: () => string): string => Array.from({ length }, one).join('');
  const point = (first: number, many: number) => () => String.fromCodePoint(first + below(many));
  return { below, times, point };
}

/**
 * Parts of a text, each of about `length` characters, that take a tokenizer the most or the least.
 */
function partsOf(seed: number, length: number): Readonly<Record<string, () => string>> {
  const { below, times, point } = createDraw(seed);
  const words = ['the', 'quick', 'tokenizer', 'internationalization', 'a', 'of', 'Zürich', 'für'];
  const word = (): string => words[below(words.length)] ?? '';
  return {
    prose: () => times(Math.ceil(length / 6), () => `${word()} `),
    blanks: () => ' '.repeat(length - 20 + below(40)),
    newlines: () => '\n'.repeat(length - below(9)),
    tabs: () => '\t\t\t\n'.repeat(length / 4),
    letter: () => point(97, 26)().repeat(length + below(9)),
    letters: () => times(length, point(97, 26)),
    capitals: () => times(length, () => (below(2) === 0 ? point(65, 26) : point(97, 26))()),
    digits: () => times(length, point(48, 10)),
    base64: () => times(length, () => 'ABCDEFGHabcdefgh0123456789+/'[below(28)] ?? ''),
    han: () => times(length, point(0x4e00, 20_000)),
    hangul: () => times(length, point(0xac00, 11_000)),
    emoji: () => times(length / 2, point(0x1f300, 1_500)),
    joined: () => '👩‍👩‍👧‍👦'.repeat(length / 11),
    astral: () => times(length / 2, point(0x20000, 40_000)),
    lone: () => times(length, () => (below(2) === 0 ? '\ud800' : '\udfff')),
    invisible: () => times(length, () => '\u200b\u200c\u200d\u2060'[below(4)] ?? ''),
    marks: () => `e${times(length, point(0x300, 100))}`,
    special: () => '<|endoftext|><|im_start|>'.repeat(length / 25),
    symbols: () => times(length, point(0x2190, 1_500)),
    slashes: () => '/*--=='.repeat(length / 6),
  };
}

/** What the published tokenizer makes of the whole text, uncut. */
const real = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });

describe('a text made to be counted low', () => {
  test.each(Object.keys(partsOf(0, 0)))('%s: not 5 % below the real count', async (kind) => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const text = partsOf(seed, 2_000)[kind]?.() ?? '';
      const whole = real(text);
      expect(whole).toBeGreaterThan(0);
      expect([seed, await count(text)]).toEqual([seed, expect.any(Number)]);
      expect(await count(text)).toBeGreaterThanOrEqual(0.95 * whole);
    }
  });

  test('dense at places of the attacker’s choice, among blanks and prose', async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const { below } = createDraw(seed);
      const parts = Object.values(partsOf(seed, 600));
      // Nine tenths of it cost nearly nothing; what does not lies together, or in many places.
      const places = 1 + below(40);
      const text = Array.from({ length: places }, () => {
        const filler = ' '.repeat(below(9) === 0 ? 5_000 : 400 + below(300));
        return filler + (parts[below(parts.length)]?.() ?? '');
      }).join(below(2) === 0 ? '' : '\n');
      const counted = await count(text);
      const whole = real(text);
      expect({ seed, low: counted < 0.95 * whole }).toEqual({ seed, low: false });
      // Customers pay for what is real.
      expect({ seed, high: counted > 1.1 * whole + 10 }).toEqual({ seed, high: false });
    }
  });

  test('a long text of which one tenth is dense, wherever that lies', async () => {
    const { below } = createDraw(7);
    const dense = partsOf(7, 20_000)['han']?.() ?? '';
    const tokens = tokenizer.countNow(dense);
    for (let run = 0; run < 30; run += 1) {
      const before = below(180_000);
      const text = ' '.repeat(before) + dense + ' '.repeat(180_000 - before);
      expect(await count(text, `run ${run}`)).toBeGreaterThanOrEqual(0.95 * tokens);
    }
  });
});

describe('the loop', () => {
  test.each([
    ['letters', 'a'.repeat(1_000_000)],
    ['blanks', `${' '.repeat(500_000)}x${' '.repeat(500_000)}`],
    ['characters of three bytes', '漢'.repeat(600_000)],
    ['digits', '7'.repeat(1_000_000)],
    ['combining marks', 'é'.normalize('NFD').repeat(400_000)],
  ])('a million %s never keep it for long', async (_, text) => {
    // Generous for the collector's threads: in one piece these take seconds to minutes.
    expect(await longestTurnMs(count(text, 'stall'))).toBeLessThan(250);
  });

  test('has a turn after every few thousand characters, of one text and of all requests', async () => {
    let sinceTurn = 0;
    let most = 0;
    const counting = createTokenizer((piece) => {
      sinceTurn += piece.length;
      most = Math.max(most, sinceTurn);
      return 1;
    }, still);
    let running = true;
    const turn = (): void => {
      sinceTurn = 0;
      if (running) setImmediate(turn);
    };
    setImmediate(turn);
    const counted = (accountId: string, text: string) =>
      Promise.resolve(counting.counterFor(accountId, PLAN)([text]));
    await counted('acc', '漢'.repeat(60_000));
    const texts = Array.from({ length: 100 }, (_, index) => `${index} `.repeat(500));
    await Promise.all(texts.map((text, index) => counted(`acc ${index % 7}`, text)));
    running = false;
    // A request between two turns of the watch: what is left of one, and all of the next.
    expect(most).toBeLessThanOrEqual(2 * (4_096 + 512));
  });

  test('a long text of one account does not keep the short one of another waiting', async () => {
    const { counting, tally } = createTally();
    const long = counting.counterFor('greedy', PLAN)(['漢'.repeat(500_000), '字'.repeat(500_000)]);
    const more = counting.counterFor('greedy', PLAN)(['x'.repeat(500_000)]);
    await counting.counterFor('patient', PLAN)(['a short question '.repeat(50)]);
    expect(tally.characters).toBeLessThan(20_000);
    await Promise.all([long, more]);
    expect(tally.characters).toBe(1_500_000 + 850);
  });
});

describe('memory', () => {
  test('a text that comes again is not counted again', async () => {
    const { tally, counting } = createTally();
    const text = 'history '.repeat(1_000);
    const first = await counting.counterFor('acc', PLAN)([text]);
    expect(await counting.counterFor('acc', PLAN)([text, text])).toBe(2 * first);
    expect(tally.characters).toBe(text.length);
  });

  test('of a history that grows only what is new is counted', async () => {
    const { tally, counting } = createTally();
    const turns = Array.from({ length: 60 }, (_, turn) => `turn ${turn}: ${'words '.repeat(300)}`);
    for (let length = 1; length <= turns.length; length += 1) {
      await counting.counterFor('acc', PLAN)(turns.slice(0, length));
    }
    expect(tally.characters).toBe(turns.join('').length);
  });

  test('no account finds what another one has had counted', async () => {
    const { tally, counting } = createTally();
    const text = 'a secret '.repeat(1_000);
    await counting.counterFor('one', PLAN)([text]);
    await counting.counterFor('other', PLAN)([text]);
    expect(tally.characters).toBe(2 * text.length);
  });

  test('is bounded for each account, and no account can flush that of another', async () => {
    const { tally, counting } = createTally();
    const text = (index: number) => `${index} ${'x'.repeat(60)}`;
    await counting.counterFor('victim', PLAN)([text(0)]);
    const many = Array.from({ length: 5_000 }, (_, index) => text(index));
    await counting.counterFor('flood', PLAN)(many);
    let before = tally.characters;
    await counting.counterFor('victim', PLAN)([text(0)]);
    await counting.counterFor('flood', PLAN)([text(4_999)]);
    expect(tally.characters).toBe(before);
    await counting.counterFor('flood', PLAN)([text(0)]);
    expect(tally.characters).toBe(before + text(0).length);
    // Of many accounts together the one that was idle for longest is forgotten.
    for (let flood = 0; flood < 40; flood += 1) {
      await counting.counterFor(`flood ${flood}`, PLAN)(many);
    }
    before = tally.characters;
    await counting.counterFor('victim', PLAN)([text(0)]);
    expect(tally.characters).toBe(before + text(0).length);
  });
});

describe('what an account may have counted', () => {
  const plan: Plan = { ...smallest, tokensPerMinute: 10_000 };
  const perMinute = countedCharacters(plan);

  /** The refusal of a count, or undefined. */
  async function refusal(counted: () => unknown): Promise<GatewayError | undefined> {
    try {
      await counted();
      return undefined;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  test('is bounded in each minute, and 429 says when there is more', async () => {
    let nowMs = 0;
    const { tally, counting } = createTally(() => nowMs);
    let sent = 0;
    /** Sends new text until it is refused. */
    const exhaust = async (): Promise<GatewayError> => {
      for (;;) {
        sent += 1;
        const text = `${sent} ${'word '.repeat(1_000)}`;
        const error = await refusal(() => counting.counterFor('acc', plan)([text]));
        if (error !== undefined) return error;
      }
    };
    for (let minute = 0; minute < 5; minute += 1) {
      const { code, retryAfterSeconds = 0 } = await exhaust();
      expect(code).toBe('rate_limit_exceeded');
      expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
      // One text more than there was room for, in each minute that has begun.
      expect(tally.characters).toBeLessThanOrEqual((minute + 1) * (perMinute + 5_100));
      nowMs += 60_000;
    }
    expect(tally.characters).toBeGreaterThanOrEqual(4 * perMinute);
    const { retryAfterSeconds = 0 } = await exhaust();
    nowMs += retryAfterSeconds * 1_000;
    expect(await refusal(() => counting.counterFor('acc', plan)(['a new text']))).toBeUndefined();
  });

  test('is taken before anything is counted: requests at once take no more', async () => {
    const { tally, counting } = createTally();
    const texts = Array.from({ length: 50 }, (_, index) => `${index} ${'word '.repeat(40_000)}`);
    const refused = await Promise.all(
      texts.map((text) => refusal(() => counting.counterFor('acc', plan)(['short', text]))),
    );
    expect(refused.filter((error) => error !== undefined)).toHaveLength(49);
    expect(tally.characters).toBeLessThan(210_000);
  });

  test('is no bound for one request, nor for text that was sent before, nor for other accounts', async () => {
    const { counting } = createTally();
    const history = 'word '.repeat(perMinute);
    await counting.counterFor('acc', plan)([history]);
    expect(await refusal(() => counting.counterFor('acc', plan)(['something new']))).toBeDefined();
    expect(await refusal(() => counting.counterFor('acc', plan)([history]))).toBeUndefined();
    expect(await refusal(() => counting.counterFor('other', plan)(['new']))).toBeUndefined();
  });

  test('is more than the tokens of a plan have characters', async () => {
    const prose = 'All happy families are alike; each unhappy family is unhappy in its own way. ';
    const perToken = prose.length / (await count(prose));
    expect(smallest.tokensPerMinute * perToken).toBeLessThan(countedCharacters(smallest));
  });
});
