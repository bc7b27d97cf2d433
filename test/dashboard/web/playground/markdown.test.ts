// Markdown of models: a growing text has the blocks of the whole text, and no text takes long.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { highlight } from '../../../../src/dashboard/web/customer/playground/highlight.ts';
import {
  type Blocks,
  NO_BLOCKS,
  parseBlocks,
} from '../../../../src/dashboard/web/customer/playground/markdown-blocks.ts';
import { samples } from '../../../support/tier.ts';

const PIECES = [
  ...[
    '# Title\n',
    'text',
    ' *em* ',
    '**strong**',
    '`code`',
    '\n',
    '\n\n',
    '- item\n',
    '  - deep\n',
  ],
  ...['1. one\n', '> quote\n', '```js\nlet a = 1;\n', '```\n', '    indented\n', '---\n', '===\n'],
  ...['|a|b|\n', '|-|-|\n', '|1|2|\n', '[l](https://a.example)', '![i](https://b.example/x.png)'],
  ...[
    '<b>',
    '</b>\n',
    '\r\n',
    '\t',
    '&amp;',
    'https://c.example',
    '\\*',
    '- [ ] task\n',
    '~~del~~',
  ],
];

const text = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 30 })
  .map((pieces) => pieces.join(''));

test('law: a text that grows in any pieces has the blocks of the whole text', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(300), { maxLength: 8 }), (whole, cuts) => {
      let blocks: Blocks = NO_BLOCKS;
      for (const cut of cuts.toSorted((a, b) => a - b)) {
        // A carriage return is the half of a line break: the reader never splits it.
        blocks = parseBlocks(whole.slice(0, cut).replace(/\r$/, ''), blocks);
      }
      expect(parseBlocks(whole, blocks)).toEqual(parseBlocks(whole));
    }),
    { numRuns: samples(2_000, 20_000) },
  );
});

test('a list stays a list when a tab ends it', () => {
  const whole = '# Title\n1. one\n![i](https://b.example/x.png)\t';
  const { tokens } = parseBlocks(whole, parseBlocks('# Title\n1'));
  expect(tokens.map(({ type }) => type)).toEqual(['heading', 'list']);
  expect(tokens.map(({ raw }) => raw).join('')).toBe(whole);
});

test('finished blocks stay the same objects, so that they are not drawn again', () => {
  const first = parseBlocks('# One\n\ntwo\n\nthree\n\nfour');
  const grown = parseBlocks('# One\n\ntwo\n\nthree\n\nfour more', first);
  expect(grown.tokens.slice(0, 5)).toHaveLength(5);
  for (const [index, token] of grown.tokens.slice(0, 4).entries()) {
    expect(token === first.tokens[index]).toBe(true);
  }
});

describe('text that is made to take long', () => {
  const MANY = 200_000;
  test.each([
    ['quotes', '>'.repeat(MANY)],
    ['quotes in lines', '> '.repeat(15).concat('x\n').repeat(2_000)],
    ['lists', '- '.repeat(MANY / 2)],
    [
      'nested lists',
      Array.from({ length: 300 }, (_, depth) => `${'  '.repeat(depth)}- x\n`).join(''),
    ],
    ['stars', '*a '.repeat(MANY / 3)],
    ['stars and bars', '**_'.repeat(3_000)],
    ['brackets', '['.repeat(MANY)],
    ['images', '![a]('.repeat(MANY / 5)],
    ['links', '[a](<b'.repeat(1_500)],
    ['ticks', '`a``b'.repeat(2_000)],
    ['tags', '<a '.repeat(MANY / 3)],
    ['comments', '<!--'.repeat(MANY / 4)],
    ['tables', `|a\n|-\n${'|a'.repeat(MANY / 2)}`],
    ['definitions', '[a]: b\n'.repeat(10_000)],
    ['spaces', ' '.repeat(MANY)],
    ['lines', '\n'.repeat(MANY)],
    ['a long word', 'a'.repeat(MANY)],
    ['addresses', 'www.'.repeat(2_400)],
    ['tildes', '~~a'.repeat(3_000)],
  ])('%s', (_name, hostile) => {
    const { tokens } = parseBlocks(hostile);
    expect(tokens.map(({ raw }) => raw).join('')).toBe(hostile);
  });
});

describe('colours of code', () => {
  test('comments, strings, numbers and keywords of known languages', () => {
    expect(highlight('let a = "x"; // 1', 'TS')).toEqual([
      { kind: 'keyword', text: 'let' },
      { kind: 'plain', text: ' a = ' },
      { kind: 'string', text: '"x"' },
      { kind: 'plain', text: '; ' },
      { kind: 'comment', text: '// 1' },
    ]);
    expect(highlight('let a', 'markdown')).toEqual([{ kind: 'plain', text: 'let a' }]);
  });

  test('law: the pieces are the code', () => {
    const pieces = fc.constantFrom(
      '"',
      "'",
      '`',
      '/*',
      '*/',
      '//',
      '#',
      '\\',
      '\n',
      'if',
      '1',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(pieces), fc.constantFrom('js', 'py', 'sql', ''), (parts, language) => {
        const code = parts.join('');
        const shown = highlight(code, language).map((piece) => piece.text);
        expect(shown.join('')).toBe(code);
      }),
    );
  });
});
