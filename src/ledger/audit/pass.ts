// What one audit of a server reads: the rows since the audit before it, and a share of the older
// ones, so that `TURNS` audits read all rows. Where the last audit ended is a note in the database.

import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { sql } from 'drizzle-orm';
import { parseJson } from '../../core/json.ts';
import type { Database } from '../../store/contract.ts';
import { readNote, writeNote } from '../../store/server-notes.ts';

/** With the default interval, an hour, all rows are read within a day. */
const TURNS = 24;

/** Smaller books are read as a whole each time, which takes some two seconds. */
const REQUESTS_MIN = 100_000;

const AuditMark = Type.Object({
  /** The last row that was read in each table. */
  requests: Type.Number(),
  movements: Type.Number(),
  /** Counts down, so that the shares of a growing table overlap and leave nothing out. */
  turn: Type.Number(),
  /** Accounts with a difference; null: rows of no account. */
  wrong: Type.Array(Type.Union([Type.String(), Type.Null()])),
});

export type AuditPass = Static<typeof AuditMark> & {
  /** The pass reads the part number `turn` of so many parts of the older rows. */
  readonly turns: number;
};

/** A range covers the numbers above `after`, up to `to`. */
export type NumberRange = { readonly after: number; readonly to: number };

/** Reads the books as a whole. */
export const EVERYTHING: AuditPass = {
  requests: Number.MAX_SAFE_INTEGER,
  movements: Number.MAX_SAFE_INTEGER,
  turn: 0,
  turns: 1,
  wrong: [],
};

/** The next pass, and a function that stores where it ended and where it found differences. */
export async function nextPass(
  database: Database,
  { turns: turnsMax, requestsMin } = { turns: TURNS, requestsMin: REQUESTS_MIN },
) {
  const [ends] = await database.settled(() =>
    database.rows<{ requests: bigint | null; movements: bigint | null }>(
      sql`select (select max(number) from requests) as requests,
        (select max(number) from movements) as movements`,
    ),
  );
  const requests = Number(ends?.requests ?? 0n);
  const movements = Number(ends?.movements ?? 0n);
  const note = parseJson((await readNote(database, 'audit_mark')) ?? '');
  const turns = requests < requestsMin ? 1 : turnsMax;
  const fresh = { requests, movements, turn: turns - 1, wrong: [] };
  const mark = Value.Check(AuditMark, note) ? note : fresh;
  const pass: AuditPass = { ...mark, turn: Math.min(mark.turn, turns - 1), turns };
  return {
    pass,
    async end(writable: Database, wrong: (string | null)[], nowMs: number): Promise<void> {
      const turn = (pass.turn === 0 ? turnsMax : pass.turn) - 1;
      const next: Static<typeof AuditMark> = { requests, movements, turn, wrong };
      await writeNote(writable, 'audit_mark', JSON.stringify(next), nowMs);
    },
  };
}

/** The pass over an account: as a whole where it had a difference. Null: rows of no account. */
export function passOf(pass: AuditPass, accountId: string | null): AuditPass {
  return pass.wrong.includes(accountId) ? EVERYTHING : pass;
}

/** The numbers that a pass reads of a range of which those above `mark` are new. The last range ends it. */
export function rangesOf(
  { turn, turns }: AuditPass,
  { after, to }: NumberRange,
  mark: number,
): readonly NumberRange[] {
  const old = Math.max(0, Math.min(mark, to) - after);
  const bound = (part: number): number => after + Math.floor((old * part) / turns);
  if (turn === turns - 1) return [{ after: bound(turn), to }];
  return [
    { after: bound(turn), to: bound(turn + 1) },
    { after: after + old, to },
  ];
}
