// How values and replies cross the connection. Called by the session for every statement.

import type postgres from 'postgres';

export type Reply = {
  readonly rows: readonly (readonly unknown[])[];
  readonly columns: readonly string[];
  /** Rows that were written or read. */
  readonly count: number;
  /** What PostgreSQL has done: `COMMIT`, `UPDATE`. */
  readonly command: string;
};

/** PostgreSQL names in each reply what it has done. A commit may end as a rollback. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  select: ['SELECT'],
  insert: ['INSERT'],
  update: ['UPDATE'],
  delete: ['DELETE'],
  begin: ['BEGIN'],
  commit: ['COMMIT', 'ROLLBACK'],
  rollback: ['ROLLBACK'],
};

/** Whether this is what PostgreSQL says of such a statement. */
export function isReplyTo(text: string, command: string): boolean {
  const [word = ''] = text.split(' ', 1);
  return KINDS[word]?.includes(command) ?? true;
}

/** Flags are numbers in both databases. */
export function toDriver(value: unknown): postgres.ParameterOrJSON<never> {
  return (typeof value === 'boolean' ? Number(value) : value) as postgres.ParameterOrJSON<never>;
}

export function replyOf(result: {
  readonly length: number;
  readonly columns: readonly { readonly name: string }[] | null;
  readonly count: number | null;
  readonly command: string;
}): Reply {
  return {
    rows: result as unknown as readonly (readonly unknown[])[],
    columns: (result.columns ?? []).map(({ name }) => name),
    count: result.count ?? 0,
    command: result.command,
  };
}

const integer = (text: string): bigint => BigInt(text);

/** As SQLite answers: every integer is a bigint, what is true is 1, a fraction is a number. */
export const TYPES = {
  integer: { to: 20, from: [20, 21, 23], serialize: String, parse: integer },
  numeric: {
    to: 1700,
    from: [1700],
    serialize: String,
    parse: (text: string) => (text.includes('.') ? Number(text) : integer(text)),
  },
  flag: {
    to: 16,
    from: [16],
    serialize: (value: unknown) => (value ? 't' : 'f'),
    parse: (text: string) => (text === 't' ? 1n : 0n),
  },
};
