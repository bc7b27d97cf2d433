import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createTokenizer, loadTokenizer, pieces } from '../../src/generate/tokenizer.ts';

const tokenizer = await loadTokenizer();

async function longestStallMs(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let running = true;
  const watch = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
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
    expect(await tokenizer.countText('hello world')).toBe(2);
    expect(tokenizer.countNow('hello world')).toBe(2);
    expect(await tokenizer.countText('')).toBe(0);
  });

  test('text that looks like a special token is plain text', async () => {
    expect(await tokenizer.countText('<|endoftext|>')).toBeGreaterThan(1);
  });

  test('lone surrogates are counted, not thrown at', async () => {
    expect(await tokenizer.countText('\ud800 and \udfff')).toBeGreaterThan(1);
  });

  test('the same text always has the same count, however it was asked for before', async () => {
    const texts = ['x'.repeat(700), 'two words '.repeat(3_000), '漢字'.repeat(50_000)];
    for (const text of texts) {
      const other = await loadTokenizer();
      const fresh = await other.countText(text);
      expect(await tokenizer.countText(text)).toBe(fresh);
      expect(await tokenizer.countText(text)).toBe(fresh);
    }
  });

  test('sampling a long text stays near the exact count', async () => {
    const text = Array.from(
      { length: 40_000 },
      (_, index) => `word${index % 97} of ${index}.`,
    ).join(' ');
    let exact = 0;
    for (const piece of pieces(text)) exact += tokenizer.countNow(piece);
    const sampled = await tokenizer.countText(text);
    expect(Math.abs(sampled - exact) / exact).toBeLessThan(0.05);
  });

  test.each([
    ['letters', 'a'.repeat(1_000_000)],
    ['characters of three bytes', '漢'.repeat(600_000)],
    ['digits', '7'.repeat(1_000_000)],
    ['combining marks', 'é'.normalize('NFD').repeat(400_000)],
  ])('a million %s never keep the event loop for long', async (_, text) => {
    const fresh = await loadTokenizer();
    // Generous against a busy machine: in one piece these take seconds to minutes.
    expect(await longestStallMs(Promise.resolve(fresh.countText(text)))).toBeLessThan(250);
  });

  test('no piece is longer than merging can bear, whoever asks', async () => {
    const lengths: number[] = [];
    const counting = createTokenizer((text) => {
      lengths.push(text.length);
      return 1;
    });
    for (const length of [512, 513, 5_000, 50_000, 500_000]) {
      counting.countNow('漢'.repeat(length));
      await counting.countText('字'.repeat(length));
    }
    expect(Math.max(...lengths)).toBe(512);
  });

  test('the loop has a turn after every few thousand characters of one text, and of many', async () => {
    let sinceTurn = 0;
    let most = 0;
    const counting = createTokenizer((text) => {
      sinceTurn += text.length;
      most = Math.max(most, sinceTurn);
      return 1;
    });
    let running = true;
    const turn = (): void => {
      sinceTurn = 0;
      if (running) setImmediate(turn);
    };
    setImmediate(turn);
    await counting.countText('漢'.repeat(60_000));
    for (let index = 0; index < 100; index += 1) await counting.countText(`${index} `.repeat(500));
    running = false;
    expect(most).toBeLessThanOrEqual(16_384 + 512);
  });

  test('a text that comes again is not counted again', async () => {
    let counted = 0;
    const counting = createTokenizer((text) => {
      counted += text.length;
      return 1;
    });
    const text = 'history '.repeat(1_000);
    await counting.countText(text);
    const once = counted;
    await counting.countText(text);
    expect(counted).toBe(once);
  });

  test('the memory is bounded', async () => {
    let counted = 0;
    const counting = createTokenizer(() => {
      counted += 1;
      return 1;
    });
    const text = (index: number) => `${index} ${'x'.repeat(200)}`;
    for (let index = 0; index < 40_000; index += 1) await counting.countText(text(index));
    const before = counted;
    await counting.countText(text(39_999));
    expect(counted).toBe(before);
    await counting.countText(text(0));
    expect(counted).toBe(before + 1);
  });
});
