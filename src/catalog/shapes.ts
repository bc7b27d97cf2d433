// Reusable value schemas of a catalog, each with its error text: `expects` completes the sentence
// "must be …".

import {
  type ArrayOptions,
  type StringOptions,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox';
import { listed, type Sentence, say } from '../core/sentence.ts';

const MILLION = '(?:1000000(?:\\.0+)?|\\d{1,6}(?:\\.\\d+)?)';

export const oneOf = <Word extends string>(...values: readonly Word[]) => {
  const quoted = values.map((value) => `"${value}"`);
  const last = quoted.pop() ?? '';
  const literals = values.map((value) => Type.Literal(value));
  return Type.Union(literals, {
    expects: say('{words} or {last}', { words: listed(quoted), last }),
  });
};

export const text = (expects: Sentence, options: StringOptions = {}) =>
  Type.String({ ...options, expects });

/** A single line of text, possibly empty. */
export const line = (expects: Sentence, maxLength: number) =>
  text(expects, { maxLength, pattern: '^[^\\x00-\\x1f\\x7f]*$' });

/** A single, non-empty line of text. */
export const label = (maxLength: number) =>
  text(say('text of 1 to {count} characters on one line', { count: maxLength }), {
    maxLength,
    pattern: '^[^\\x00-\\x1f\\x7f]+$',
  });

/** Text of any kind. */
export const prose = (maxLength: number) =>
  text(say('text of at most {count} characters', { count: maxLength }), { maxLength });

/** Characters from "!" to "~", possibly none. */
export const visible = (expects: Sentence, maxLength: number) =>
  text(expects, { maxLength, pattern: '^[\\x21-\\x7e]*$' });

/** At least one character from "!" to "~". */
export const word = (maxLength: number) =>
  text(say('1 to {count} visible ASCII characters', { count: maxLength }), {
    maxLength,
    pattern: '^[\\x21-\\x7e]+$',
  });

export const flag = () => Type.Boolean({ expects: say('true or false') });

export const integer = (minimum: number, maximum: number) =>
  Type.Integer({
    minimum,
    maximum,
    expects: say('an integer from {least} to {most}', { least: minimum, most: maximum }),
  });

export const number = (minimum: number, maximum: number) =>
  Type.Number({
    minimum,
    maximum,
    expects: say('a number from {least} to {most}', { least: minimum, most: maximum }),
  });

/** `never`: what zero means, where it is allowed. */
export const seconds = (minimum: number, maximum: number, never: Sentence | '' = '') =>
  Type.Number({
    minimum,
    maximum,
    expects: say('a number of seconds from {least} to {most}{never}', {
      least: minimum,
      most: maximum,
      never,
    }),
  });

/** A decimal of at most a million; as a string it keeps every digit. */
export const decimal = (decimals: number, example: string, isPositive = false) => {
  const digits = `(?=\\d+(?:\\.\\d{1,${decimals}})?$)${MILLION}`;
  const pattern = isPositive ? `^(?=.*[1-9])${digits}$` : `^${digits}$`;
  const integers = Type.Integer({ minimum: isPositive ? 1 : 0, maximum: 1_000_000 });
  const kind = isPositive ? say('a decimal above zero') : say('a decimal');
  return Type.Union([Type.String({ pattern }), integers], {
    expects: say('{kind} such as {example}, at most 1000000 and with at most {decimals} decimals', {
      kind,
      example: `"${example}"`,
      decimals,
    }),
  });
};

export const listOf = <T extends TSchema>(
  items: T,
  expects: Sentence,
  options: ArrayOptions = {},
) => Type.Array(items, { ...options, expects });

/** A table with exactly these keys. */
export const closed = <T extends TProperties>(fields: T, expects = A_TABLE) =>
  Type.Object(fields, { additionalProperties: false, expects });

export const A_TABLE = say('a table');

export const tableLike = (example: string) => say('a table such as {example}', { example });
