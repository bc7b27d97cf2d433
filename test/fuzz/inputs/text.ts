// The texts that break readers: what JSON escapes, what event streams take for a line or an end,
// halves of characters, think tags, white space. Every generator of this folder draws from here.

import fc from 'fast-check';

/** Stands in prompts, answers and credentials; it must never be in an error or a failure. */
export const SECRET = 'secret-4711';

const ODD_TEXTS = [
  '',
  ' ',
  '\n',
  '\r\n',
  '\t \n',
  '"',
  '\\',
  '\\"',
  '\0',
  '\u007f',
  '\u0085',
  '\u2028',
  '\uFEFF',
  '😀',
  'é漢',
  '\ud83d',
  '\ude00',
  '[DONE]',
  '\n\ndata: [DONE]\n\n',
  'event: error\ndata: {}\n\n',
  '<think>',
  '</think>',
  '<thi',
  '{}',
  '{"a":1}',
  '__proto__',
  'constructor',
  SECRET,
] as const;

export const oddText = fc.constantFrom(...ODD_TEXTS);

/** Some text, mostly short. Halves of characters may be among it. */
export const anyText = fc.oneof(
  { weight: 3, arbitrary: oddText },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc.array(oddText, { minLength: 2, maxLength: 5 }).map((parts) => parts.join('')),
  },
);

/** Text that can be written as UTF-8: what a parsed body or a decoded stream can hold. */
export const wholeText = anyText.map((text) => text.toWellFormed());

/** Text with at least one character that is not white space. */
export const solidText = wholeText.map((text) => (text.trim() === '' ? `${text}x` : text));
