// Converts values and replies of a PostgreSQL connection. Called by the session for every
// statement.

import type postgres from 'postgres';

export type Reply = {
  readonly rows: readonly (readonly unknown[])[];
  readonly columns: readonly string[];
  /** The number of written or read rows. */
  readonly count: number;
  /** The command that PostgreSQL completed: `COMMIT`, `UPDATE`. */
  readonly command: string;
};

/** PostgreSQL names the completed command in each reply. A commit may end as a rollback. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  select: ['SELECT'],
  insert: ['INSERT'],
  update: ['UPDATE'],
  delete: ['DELETE'],
  begin: ['BEGIN'],
  commit: ['COMMIT', 'ROLLBACK'],
  rollback: ['ROLLBACK'],
};

/** Whether a reply with this command can belong to the statement. */
export function isReplyTo(text: string, command: string): boolean {
  const [word = ''] = text.split(' ', 1);
  return KINDS[word]?.includes(command) ?? true;
}

/** Booleans are numbers in both databases. */
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

/** The same types as SQLite: every integer is a bigint, true is 1, a fraction is a number. */
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
