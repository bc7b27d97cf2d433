// Answers as plain text and code blocks: nothing is lost, and no text takes long.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { textBlocks } from '../../../src/web/customer/playground/text-blocks.ts';
import { cpuTimer } from '../../support/cpu-time.ts';

const text = (words: string) => ({ kind: 'text', text: words }) as const;
const code = (words: string, language = '') => ({ kind: 'code', text: words, language }) as const;

test.each([
  ['', []],
  ['**bold** <b>tag</b>', [text('**bold** <b>tag</b>')]],
  [
    'One\n\n```js\nlet a;\n\nlet b;\n```\n\n  Two',
    [text('One'), code('let a;\n\nlet b;', 'js'), text('  Two')],
  ],
  ['~~~ Python\npass\n~~~', [code('pass', 'Python')]],
  ['````\n```\ninner\n```\n````\nend', [code('```\ninner\n```'), text('end')]],
  ['```\n~~~\n```', [code('~~~')]],
  ['```js\nlet a', [code('let a', 'js')]],
  ['```js', [text('```js')]],
  ['a ```b``` c\n```x```', [text('a ```b``` c\n```x```')]],
  ['```\n```\n```\n```', [code(''), code('')]],
])('%j', (written, blocks) => {
  expect(textBlocks(written)).toEqual([...blocks]);
});

const written = fc
  .array(fc.constantFrom('```', '~~~', '````', 'js', '\n', ' ', 'word', '<b>'), { maxLength: 40 })
  .map((pieces) => pieces.join(''));

test('law: every word of the text is in a block or in a fence', () => {
  const words = (of: string): string => of.replaceAll(/[`~\s]/g, '');
  fc.assert(
    fc.property(written, (whole) => {
      const shown = textBlocks(whole).map((block) =>
        block.kind === 'code' ? block.language + block.text : block.text,
      );
      expect(words(shown.join(''))).toBe(words(whole));
    }),
  );
});

test.each([
  '~'.repeat(200_000),
  '`'.repeat(200_000),
  '```\n'.repeat(50_000),
  '~~~\n````\n'.repeat(20_000),
  `a${' '.repeat(200_000)}b`,
  `\`\`\`\n\`\`\`${' '.repeat(200_000)}x`,
])('reads long text in linear time: %#', (long) => {
  const cpuMs = cpuTimer();
  textBlocks(long);
  expect(cpuMs()).toBeLessThan(1_000);
});
