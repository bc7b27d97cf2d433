// The result of a node's audit as a row of the database, for the other nodes. Readers validate it,
// because another version may have written it.

import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { parseJson } from '../core/json.ts';
import type { Difference } from '../ledger/audit.ts';
import type { Database } from '../store/contract.ts';
import { readNote, writeNewestNote } from '../store/server-notes.ts';
import type { SharedAudit } from './self-audit.ts';

const AuditNote = Type.Object({
  boot: Type.String(),
  failure: Type.Union([Type.String(), Type.Null()]),
  last: Type.Union([
    Type.Object({
      startedAt: Type.Number(),
      endedAt: Type.Number(),
      ok: Type.Boolean(),
      count: Type.Number(),
    }),
    Type.Null(),
  ]),
  differences: Type.Array(
    Type.Object({
      kind: Type.String(),
      accountId: Type.Union([Type.String(), Type.Null()]),
      subject: Type.String(),
      detail: Type.String(),
    }),
  ),
});

/**
 * Writes what this incarnation found at `lookedAt`. `false` where the row is from a later audit.
 */
export async function writeAuditNote(
  database: Database,
  boot: string,
  { failure, last, differences }: SharedAudit,
  lookedAt: number,
): Promise<boolean> {
  const note: Static<typeof AuditNote> = {
    boot,
    failure: failure ?? null,
    last: last ?? null,
    differences: differences.map((difference) => ({ ...difference })),
  };
  return writeNewestNote(database, 'audit', JSON.stringify(note), lookedAt);
}

export type AuditNoteReader = {
  /** What another incarnation found since the last call; `undefined` where there is nothing new. */
  readonly read: (ownIncarnation: string) => Promise<SharedAudit | undefined>;
};

export function createAuditNoteReader(database: Database): AuditNoteReader {
  let known: string | undefined;
  return {
    async read(ownIncarnation) {
      const text = await readNote(database, 'audit');
      if (text === undefined || text === known) return undefined;
      known = text;
      const note = parseJson(text);
      if (!Value.Check(AuditNote, note) || note.boot === ownIncarnation) return undefined;
      return {
        failure: note.failure ?? undefined,
        last: note.last ?? undefined,
        differences: note.differences as readonly Difference[],
      };
    },
  };
}
