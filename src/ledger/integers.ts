// Integers in JSON, which has no bigint: those of requests are numbers or texts in places of their
// own; those of rare commands and answers are boxed wherever they are.

/** An integer that a number cannot represent is a text. */
export type Integer = number | string;

export function integer(value: bigint): Integer {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

type Boxed = { readonly integer: string };

export function boxInteger(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? ({ integer: String(value) } satisfies Boxed) : value;
}

export function unbox(_: string, value: unknown): unknown {
  const isBox = typeof value === 'object' && value !== null && 'integer' in value;
  return isBox ? BigInt(String(value.integer)) : value;
}
