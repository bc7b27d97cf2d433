// Stop sequences: which ones an upstream gets, and that the cut is where the text says, however an
// upstream splits it into deltas.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationEvent } from '../../src/core/generation.ts';
import { createStopCutter, sentStops } from '../../src/core/stop.ts';

describe('which stop sequences an upstream gets', () => {
  const of = (stopMax: number, blankStops: 'send' | 'hold', stop: string[]) =>
    sentStops(stop, { stopMax, stopWhenReasoning: 'hold', blankStops }, false);

  test('all of them where it takes as many', () => {
    expect(of(4, 'send', [])).toEqual([]);
    expect(of(4, 'send', ['a', '\n', 'b', 'c'])).toEqual(['a', '\n', 'b', 'c']);
  });

  test('the first ones where it takes fewer', () => {
    expect(of(2, 'send', ['d', 'c', 'b', 'a'])).toEqual(['d', 'c']);
    expect(of(0, 'send', ['a'])).toEqual([]);
  });

  test('none of white space where it refuses those, and they take no place of another', () => {
    expect(of(2, 'hold', ['\n\n', 'a', ' \t', 'b', 'c', ' d '])).toEqual(['a', 'b']);
  });

  test('none where the model reasons and the upstream refuses them then', () => {
    const profile = { stopMax: 4, stopWhenReasoning: 'hold', blankStops: 'send' } as const;
    expect(sentStops(['a'], profile, true)).toEqual([]);
    expect(sentStops(['a'], profile, false)).toEqual(['a']);
  });

  test('each once', () => {
    expect(of(2, 'send', ['a', 'a', 'b', 'a', 'c', 'c'])).toEqual(['a', 'b']);
  });

  test('the sequences sent are distinct ones of the request in its order, as many as fit', () => {
    const stops = fc.array(
      fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom(...'ab \n') }),
    );
    fc.assert(
      fc.property(
        stops,
        fc.nat(16),
        fc.constantFrom('send', 'hold'),
        (stop, stopMax, blankStops) => {
          const profile = { stopMax, stopWhenReasoning: 'send', blankStops } as const;
          const sent = sentStops(stop, profile, true);
          const distinct = [...new Set(stop)];
          expect(sent).toEqual(distinct.filter((each) => sent.includes(each)));
          const fit = blankStops === 'send' ? distinct : distinct.filter((each) => each.trim());
          expect(sent).toHaveLength(Math.min(stopMax, fit.length));
        },
      ),
    );
  });
});

const text = (value: string): GenerationEvent => ({ kind: 'text-delta', text: value });

test('a sequence takes memory only as far as the answer has matched it', () => {
  const sequence = 'ab'.repeat(1_000_000);
  // What earlier tests have left would count.
  Bun.gc(true);
  const before = process.memoryUsage();
  const cutters = Array.from({ length: 8 }, () => createStopCutter([sequence]));
  for (const cutter of cutters) cutter.push(text('abab'));
  Bun.gc(true);
  const after = process.memoryUsage();
  const grown = after.arrayBuffers - before.arrayBuffers + after.heapUsed - before.heapUsed;
  expect(grown).toBeLessThan(8_000_000);
  expect(cutters.flatMap((cutter) => cutter.end())).toEqual(Array(8).fill(text('abab')));
});
const STOPPED: GenerationEvent = { kind: 'finish', reason: 'stop' };

/** What each event gives, and what the end of the bytes gives. */
function steps(stops: readonly string[], events: readonly GenerationEvent[]): GenerationEvent[][] {
  const cutter = createStopCutter(stops);
  return [...events.map((event) => [...cutter.push(event)]), [...cutter.end()]];
}

/** The events with neighbouring texts joined. */
function joined(events: readonly GenerationEvent[]): GenerationEvent[] {
  const result: GenerationEvent[] = [];
  for (const event of events) {
    const last = result.at(-1);
    if (event.kind === 'text-delta' && last?.kind === 'text-delta') {
      result[result.length - 1] = text(last.text + event.text);
    } else result.push(event);
  }
  return result;
}

/** Where a text is cut, as simply as it can be said. */
function earliest(stops: readonly string[], whole: string): number {
  const found = stops.map((stop) => whole.indexOf(stop)).filter((at) => at !== -1);
  return Math.min(whole.length, ...found);
}

describe('the cutter', () => {
  const whole = (stops: string[], ...parts: string[]) =>
    joined(steps(stops, parts.map(text)).flat());

  test('cuts in one delta, and says that the model stopped', () => {
    expect(steps(['END'], [text('Hello END of it'), text(' more')])).toEqual([
      [text('Hello '), STOPPED],
      [],
      [],
    ]);
  });

  test('cuts across deltas, and holds back only what may be a beginning', () => {
    expect(steps(['END'], ['one E', 'X E', 'N', 'E', 'N', 'D!'].map(text))).toEqual([
      [text('one ')],
      [text('EX ')],
      [],
      [text('EN')],
      [],
      [STOPPED],
      [],
    ]);
  });

  test('gives what it held at the end', () => {
    expect(steps(['END'], [text('EN')])).toEqual([[], [text('EN')]]);
    expect(steps(['END'], [text('EN'), { kind: 'finish', reason: 'length' }])).toEqual([
      [],
      [text('EN'), { kind: 'finish', reason: 'length' }],
      [],
    ]);
  });

  test('the sequence that begins first wins, whichever is complete first', () => {
    expect(whole(['c', 'abcd'], 'xabc', 'd')).toEqual([text('x'), STOPPED]);
    expect(whole(['c', 'abcd'], 'xabc', 'x')).toEqual([text('xab'), STOPPED]);
    // Nothing follows any more, so the one that is complete has ended the answer.
    expect(whole(['c', 'abcd'], 'xabc')).toEqual([text('xab'), STOPPED]);
  });

  test('the earliest of several in one delta wins, in whichever order they are given', () => {
    for (const stops of [
      ['d', 'bc'],
      ['bc', 'd'],
    ]) {
      expect(steps(stops, [text('abcd bcd')])).toEqual([[text('a'), STOPPED], []]);
      expect(steps(stops, [text('adbc')])).toEqual([[text('a'), STOPPED], []]);
    }
  });

  test('of two that begin together the shorter one is enough', () => {
    expect(steps(['ab', 'a'], [text('xa')])).toEqual([[text('x'), STOPPED], []]);
  });

  test('finds a sequence that begins inside a false start of itself', () => {
    expect(whole(['aab'], 'a', 'a', 'a', 'b')).toEqual([text('a'), STOPPED]);
    expect(whole(['abac'], 'abab', 'ac')).toEqual([text('ab'), STOPPED]);
  });

  test('an answer that begins with a sequence is empty', () => {
    expect(whole(['\n\n'], '\n', '\nHello')).toEqual([STOPPED]);
  });

  test('watches the text alone; anything else lets go of what was held, in order', () => {
    const reasoning: GenerationEvent = { kind: 'reasoning-delta', text: 'END' };
    const start: GenerationEvent = { kind: 'tool-start', index: 0, id: 'call_1', name: 'END' };
    const delta: GenerationEvent = { kind: 'tool-delta', index: 0, json: '"END"' };
    expect(steps(['END'], [reasoning, text('E'), start, text('ND E'), delta])).toEqual([
      [reasoning],
      [],
      [text('E'), start],
      [text('ND ')],
      [text('E'), delta],
      [],
    ]);
    // A call that had begun stays, and what follows the cut does not.
    expect(steps(['END'], [start, text('END'), delta, STOPPED])).toEqual([
      [start],
      [STOPPED],
      [],
      [],
      [],
    ]);
  });

  test('a half of a character is no sequence', () => {
    expect(whole(['\ude00', '\ud83d'], 'a😀b')).toEqual([text('a😀b')]);
    expect(whole(['😁', '😀x'], 'a😀', 'y😀', 'x')).toEqual([text('a😀y'), STOPPED]);
    expect(whole(['😁'], 'a\ud83d', '\ude00', '\ud83d', '\ude01')).toEqual([text('a😀'), STOPPED]);
  });

  // Comparing again with every delta would take hours here, which is beyond any test's time.
  test('long sequences of one character', () => {
    const run = 'a'.repeat(500_000);
    const stops = [`${run}b`, `${run}c`];
    const parts = Array.from({ length: 200 }, () => text('a'.repeat(5_000)));
    const given = joined(steps(stops, [...parts, text('c')]).flat());
    expect(given).toEqual([text(run), STOPPED]);
  });
});

describe('laws of the cutter', () => {
  const letters = (unit: string) => (lengths: { minLength: number; maxLength: number }) =>
    fc.string({ ...lengths, unit: fc.constantFrom(...unit) });
  const few = letters('ab');
  const stops = fc.array(few({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 });
  const deltas = fc.array(few({ minLength: 0, maxLength: 6 }), { maxLength: 8 });

  test('any split of a text is cut where the text says', () => {
    fc.assert(
      fc.property(stops, deltas, (sequences, parts) => {
        const all = parts.join('');
        const at = earliest(sequences, all);
        const expected = [text(all.slice(0, at)), ...(at < all.length ? [STOPPED] : [])];
        const given = joined(steps(sequences, parts.map(text)).flat());
        expect(given).toEqual(expected.filter((event) => !isEmpty(event)));
      }),
      { numRuns: 3_000 },
    );
  });

  test('exactly what may still begin a sequence is held back', () => {
    fc.assert(
      fc.property(stops, deltas, (sequences, parts) => {
        const cutter = createStopCutter(sequences);
        const longest = Math.max(...sequences.map((sequence) => sequence.length));
        let fed = '';
        let given = '';
        for (const part of parts) {
          fed += part;
          for (const event of cutter.push(text(part))) {
            if (event.kind === 'text-delta') given += event.text;
          }
          if (cutter.hasCut()) return;
          let open = 0;
          while (!sequences.some((sequence) => sequence.startsWith(fed.slice(open)))) open += 1;
          expect(given).toBe(fed.slice(0, open));
          expect(fed.length - given.length).toBeLessThan(longest);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  test('no event overtakes another, and nothing follows a cut', () => {
    const other = fc.constantFrom<GenerationEvent>(
      { kind: 'reasoning-delta', text: 'ab' },
      { kind: 'tool-start', index: 0, id: 'a', name: 'b' },
      { kind: 'tool-delta', index: 0, json: 'ab' },
    );
    const events = fc.array(fc.oneof(few({ minLength: 1, maxLength: 4 }).map(text), other));
    fc.assert(
      fc.property(stops, events, (sequences, pushed) => {
        const expected: GenerationEvent[] = [];
        for (const event of joined(pushed)) {
          if (event.kind !== 'text-delta') {
            expected.push(event);
            continue;
          }
          const at = earliest(sequences, event.text);
          if (at > 0) expected.push(text(event.text.slice(0, at)));
          if (at === event.text.length) continue;
          expected.push(STOPPED);
          break;
        }
        expect(joined(steps(sequences, pushed).flat())).toEqual(expected);
      }),
      { numRuns: 3_000 },
    );
  });

  test('an annotation passes at once, and does not split the text', () => {
    const citation = { start: 0, end: 0, url: 'https://example.com', title: '' };
    const annotation: GenerationEvent = { kind: 'annotation', citation };
    fc.assert(
      fc.property(stops, fc.array(few({ minLength: 1, maxLength: 4 })), (sequences, parts) => {
        const all = steps(
          sequences,
          parts.flatMap((part) => [annotation, text(part)]),
        );
        const passed = all.flat().filter(({ kind }) => kind !== 'annotation');
        expect(joined(passed)).toEqual(joined(steps(sequences, parts.map(text)).flat()));
      }),
      { numRuns: 1_000 },
    );
  });

  test('no character is ever cut in half', () => {
    const units = ['a', '\ud83d', '\ude00', '\ude01', '😀', '😁', 'é'];
    const sequence = fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom(...units) });
    const unbroken = fc.string({ maxLength: 12, unit: fc.constantFrom('a', '😀', '😁', 'é') });
    fc.assert(
      fc.property(fc.array(sequence), unbroken, fc.nat(), (sequences, all, cut) => {
        const at = cut % (all.length + 1);
        const given = joined(
          steps(sequences, [text(all.slice(0, at)), text(all.slice(at))]).flat(),
        );
        for (const event of given) {
          if (event.kind === 'text-delta') expect(event.text.isWellFormed()).toBe(true);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

function isEmpty(event: GenerationEvent): boolean {
  return event.kind === 'text-delta' && event.text === '';
}
