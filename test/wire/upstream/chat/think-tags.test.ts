import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ChatProfile } from '../../../../src/core/profile.ts';
import type { PlainDelta } from '../../../../src/wire/upstream/chat/delta.ts';
import { ThinkSplitter } from '../../../../src/wire/upstream/chat/think-tags.ts';

type Mode = ChatProfile['thinkTags'];

function splitterTo(mode: Mode, onDelta: (delta: PlainDelta) => void) {
  const splitter = new ThinkSplitter(mode, { push: onDelta });
  return {
    text: (text: string) => splitter.push({ kind: 'text-delta', text }),
    reasoning: (text: string) => splitter.push({ kind: 'reasoning-delta', text }),
    flush: () => splitter.flush(),
  };
}

/** What came of the pieces, joined by kind in the order of their first appearance. */
function split(mode: Mode, pieces: readonly string[]): { thinking: string; text: string } {
  const seen = { thinking: '', text: '' };
  const splitter = splitterTo(mode, ({ kind, text }) => {
    expect(text).not.toBe('');
    // A text never goes back to thinking.
    if (kind === 'reasoning-delta') expect(seen.text).toBe('');
    seen[kind === 'reasoning-delta' ? 'thinking' : 'text'] += text;
  });
  for (const piece of pieces) splitter.text(piece);
  splitter.flush();
  return seen;
}

function everyCut(text: string): string[][] {
  const inTwo = Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]);
  return [[text], Array.from(text), ...inTwo];
}

type Row = [name: string, mode: Mode, text: string, thinking: string, rest: string];

const ROWS: Row[] = [
  ['no tag', 'split', 'a < b and c', '', 'a < b and c'],
  ['a tag', 'split', '<think>hm</think>So', 'hm', 'So'],
  ['the long tag', 'split', '<thinking>hm</thinking>So', 'hm', 'So'],
  ['an opener and the other closer', 'split', '<thinking>hm</think>So', 'hm', 'So'],
  ['white space before the tag', 'split', ' \n\t<think>hm</think>So', 'hm', 'So'],
  ['white space before the text', 'split', ' \n\tSo', '', ' \n\tSo'],
  ['white space alone', 'split', ' \n', '', ' \n'],
  ['line breaks behind the closer', 'split', '<think>hm</think>\n\r\n\nSo\n', 'hm', 'So\n'],
  ['line breaks behind the opener', 'split', '<think>\nhm\n</think>So', 'hm\n', 'So'],
  ['spaces behind the closer', 'split', '<think>hm</think>  So', 'hm', '  So'],
  ['thinking that is empty', 'split', '<think>\n\n</think>\n\nSo', '', 'So'],
  ['brackets within the thinking', 'split', '<think>a < b </th x</think>So', 'a < b </th x', 'So'],
  ['an opener within the thinking', 'split', '<think>a<think>b</think>So', 'a<think>b', 'So'],
  ['a second closer', 'split', '<think>a</think>So</think>!', 'a', 'So</think>!'],
  ['a second tag', 'split', '<think>a</think>So<think>b</think>', 'a', 'So<think>b</think>'],
  ['a tag behind text', 'split', 'So <think>a</think>', '', 'So <think>a</think>'],
  ['an orphan closer behind text', 'split', 'So</think>!', '', 'So</think>!'],
  ['an orphan closer at the start', 'split', '\n</think>\n\nSo', '', 'So'],
  ['no end', 'split', '<think>hm </thi', 'hm </thi', ''],
  ['an end inside the opener', 'split', ' <thin', '', ' <thin'],
  ['another tag', 'split', '<thinker>a</thinker>', '', '<thinker>a</thinker>'],
  ['nothing', 'split', '', '', ''],
  ['open from the start', 'opened', 'hm</think>\n\nSo', 'hm', 'So'],
  ['open, and opened again', 'opened', '<think>\nhm</think>So', 'hm', 'So'],
  ['open, and closed at once', 'opened', '</think>\n\nSo', '', 'So'],
  ['open, behind line breaks', 'opened', '\n\nhm</think>So', 'hm', 'So'],
  ['open, without an end', 'opened', 'a < b and </', 'a < b and </', ''],
  ['open, white space alone', 'opened', ' ', ' ', ''],
  ['not looked for', 'ignore', '\n<think>hm</think>\nSo', '', '\n<think>hm</think>\nSo'],
];

describe('case 105: think tags, however the text is cut', () => {
  test.each(ROWS)('%s', (_name, mode, text, thinking, rest) => {
    for (const pieces of everyCut(text)) {
      expect(split(mode, pieces)).toEqual({ thinking, text: rest });
    }
  });

  test('white space before a tag is held back only up to its bound', () => {
    const passed: string[] = [];
    const splitter = splitterTo('split', ({ text }) => passed.push(text));
    for (let length = 0; length < 300; length += 1) splitter.text(' ');
    expect(passed[0]).toBe(' '.repeat(257));
    splitter.text('<think>a</think>');
    expect(passed.at(-1)).toBe('<think>a</think>');
    const [all = ''] = [`${' '.repeat(257)}<think>a</think>`];
    expect(split('split', [all])).toEqual({ thinking: '', text: all });
  });
});

test('line breaks behind a tag are left out only up to the bound', () => {
  const text = `<think></think>${'\n'.repeat(300)}a`;
  for (const pieces of [[text], [...text]]) {
    expect(split('split', pieces)).toEqual({ thinking: '', text: `${'\n'.repeat(44)}a` });
  }
});

describe('any text', () => {
  const word = fc.constantFrom(
    ...[
      '<think>',
      '</think>',
      '<thinking>',
      '</thinking>',
      '<',
      '</',
      'think',
      '>',
      '\n',
      ' ',
      'a',
    ],
  );
  const pieces = fc.array(fc.array(word, { maxLength: 4 }).map((words) => words.join('')));
  const mode = fc.constantFrom<Mode>('ignore', 'split', 'opened');

  test('its cuts do not matter', () => {
    fc.assert(
      fc.property(mode, pieces, (some, cut) => {
        expect(split(some, cut)).toEqual(split(some, [cut.join('')]));
      }),
      { numRuns: 2_000 },
    );
  });

  test('nothing is lost but the tags, their line breaks and white space before them', () => {
    fc.assert(
      fc.property(mode, pieces, (some, cut) => {
        const text = cut.join('');
        const { thinking, text: rest } = split(some, cut);
        const bare = (of: string): string => of.replace(/<\/?think(?:ing)?>|\s/g, '');
        expect(bare(thinking) + bare(rest)).toBe(bare(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test('nothing is held back once the text goes on', () => {
    fc.assert(
      fc.property(mode, pieces, (some, cut) => {
        const passed: string[] = [];
        const splitter = splitterTo(some, ({ text }) => passed.push(text));
        // A letter that is in no tag.
        for (const piece of [...cut, 'a']) splitter.text(piece);
        const before = passed.length;
        splitter.flush();
        expect(passed.length).toBe(before);
        expect(passed.at(-1)).toEndWith('a');
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('thinking in a field of its own', () => {
  const run = (
    mode: Mode,
    steps: readonly (readonly ['text' | 'reasoning', string])[],
  ): string[] => {
    const passed: string[] = [];
    const splitter = splitterTo(mode, ({ kind, text }) => passed.push(`${kind}: ${text}`));
    for (const [kind, piece] of steps) splitter[kind](piece);
    splitter.flush();
    return passed;
  };

  test('a text behind it is not open, and may have tags all the same', () => {
    const plain = [
      ['reasoning', 'hm'],
      ['text', 'So'],
    ] as const;
    expect(run('opened', plain)).toEqual(['reasoning-delta: hm', 'text-delta: So']);
    const orphan = [
      ['reasoning', 'hm'],
      ['text', '</think>So'],
    ] as const;
    expect(run('split', orphan)).toEqual(['reasoning-delta: hm', 'text-delta: So']);
    const again = [
      ['reasoning', 'hm'],
      ['text', '<think>yes</think>So'],
    ] as const;
    expect(run('opened', again)).toEqual([
      'reasoning-delta: hm',
      'reasoning-delta: yes',
      'text-delta: So',
    ]);
  });

  test('what was held back comes before it', () => {
    const between = [
      ['text', '<think>a </th'],
      ['reasoning', 'b'],
      ['text', 'ink>c'],
    ] as const;
    expect(run('split', between)).toEqual([
      'reasoning-delta: a ',
      'reasoning-delta: </th',
      'reasoning-delta: b',
      'reasoning-delta: ink>c',
    ]);
  });

  test('white space that is held back waits for the text', () => {
    const before = [
      ['text', '\n\n'],
      ['reasoning', 'hm'],
      ['text', 'So'],
    ] as const;
    expect(run('split', before)).toEqual(['reasoning-delta: hm', 'text-delta: \n\nSo']);
  });
});
