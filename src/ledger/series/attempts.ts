// Reads the attempts of usage records for the series. Members may be missing: records of older
// versions have fewer.

import type { FailureClass } from '../../core/failure.ts';
import { shapeNumber, unpackText } from '../../core/shape.ts';
import type { Database } from '../../store/contract.ts';
import { BookedNames } from '../booked-names.ts';

export type BookedAttempt = {
  readonly upstream?: string;
  readonly model?: string;
  /** Absent where the upstream was not reached. */
  readonly credential?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly firstContentMs?: number;
  readonly failure?: FailureClass;
  readonly usage?: { readonly outputTokens?: number };
  readonly cost?: string;
};

/** The attempts of packed rows, in their order; a row without attempts has none. */
type ReadAttempts = (
  rows: readonly (Uint8Array | null)[],
) => Promise<readonly (readonly BookedAttempt[])[]>;

/** `database` is migrated. */
export function createAttemptReader(database: Database): ReadAttempts {
  const names = new BookedNames();
  return async (rows) => {
    const shapes = rows.flatMap((bytes) => (bytes === null ? [] : (shapeNumber(bytes) ?? [])));
    await names.read(database.db, shapes);
    return rows.map((bytes) => (bytes === null ? [] : parse(unpackText(bytes, names.text))));
  };
}

function parse(text: string): readonly BookedAttempt[] {
  const attempts: unknown = JSON.parse(text);
  if (!Array.isArray(attempts)) return [];
  return attempts.filter((attempt) => typeof attempt === 'object' && attempt !== null);
}
