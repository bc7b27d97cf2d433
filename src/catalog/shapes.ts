// Reusable value schemas of a catalog, each with its error text: `expects` completes the sentence
// "must be …".

import {
  type ArrayOptions,
  type StringOptions,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox';

const MILLION = '(?:1000000(?:\\.0+)?|\\d{1,6}(?:\\.\\d+)?)';

export const oneOf = <Word extends string>(...values: readonly Word[]) => {
  const quoted = values.map((value) => `"${value}"`);
  const last = quoted.pop();
  const literals = values.map((value) => Type.Literal(value));
  return Type.Union(literals, { expects: `${quoted.join(', ')} or ${last}` });
};

export const text = (expects: string, options: StringOptions = {}) =>
  Type.String({ ...options, expects });

/** A single line of text, possibly empty. */
export const line = (expects: string, maxLength: number) =>
  text(expects, { maxLength, pattern: '^[^\\x00-\\x1f\\x7f]*$' });

/** A single, non-empty line of text. */
export const label = (maxLength: number) =>
  text(`text of 1 to ${maxLength} characters on one line`, {
    maxLength,
    pattern: '^[^\\x00-\\x1f\\x7f]+$',
  });

/** Characters from "!" to "~". */
export const visible = (expects: string, maxLength: number, repeat: '*' | '+' = '*') =>
  text(expects, { maxLength, pattern: `^[\\x21-\\x7e]${repeat}$` });

export const flag = () => Type.Boolean({ expects: 'true or false' });

const range = (minimum: number, maximum: number) =>
  `from ${minimum.toLocaleString('en-US')} to ${maximum.toLocaleString('en-US')}`;

export const integer = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, expects: `an integer ${range(minimum, maximum)}` });

export const number = (minimum: number, maximum: number, kind = 'a number', note = '') =>
  Type.Number({ minimum, maximum, expects: `${kind} ${range(minimum, maximum)}${note}` });

/** A decimal of at most a million; as a string it keeps every digit. */
export const decimal = (decimals: number, example: string, isPositive = false) => {
  const digits = `(?=\\d+(?:\\.\\d{1,${decimals}})?$)${MILLION}`;
  const pattern = isPositive ? `^(?=.*[1-9])${digits}$` : `^${digits}$`;
  const integers = Type.Integer({ minimum: isPositive ? 1 : 0, maximum: 1_000_000 });
  const kind = isPositive ? 'a decimal above zero' : 'a decimal';
  return Type.Union([Type.String({ pattern }), integers], {
    expects: `${kind} such as "${example}", at most 1000000 and with at most ${decimals} decimals`,
  });
};

export const listOf = <T extends TSchema>(items: T, expects: string, options: ArrayOptions = {}) =>
  Type.Array(items, { ...options, expects });

/** A table with exactly these keys. */
export const closed = <T extends TProperties>(fields: T, expects = 'a table') =>
  Type.Object(fields, { additionalProperties: false, expects });
