// Reads the attempts of usage records. Members may be missing: records of older versions have fewer.

import type { AttemptPhase } from '../../core/failure.ts';
import type { Usage } from '../../core/generation.ts';
import type { AttemptSummary } from '../../core/request-summary.ts';
import { shapeNumber, unpackText } from '../../core/shape.ts';
import type { Database } from '../../store/contract.ts';
import { BookedNames } from '../booked-names.ts';

export type BookedAttempt = Partial<AttemptSummary> & {
  readonly phase?: AttemptPhase;
  readonly detail?: string;
  readonly usage?: Partial<Usage>;
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
    return rows.map((bytes) =>
      bytes === null ? [] : parseAttempts(unpackText(bytes, names.text)),
    );
  };
}

export function parseAttempts(text: string): readonly BookedAttempt[] {
  const attempts: unknown = JSON.parse(text);
  if (!Array.isArray(attempts)) return [];
  return attempts.filter((attempt) => typeof attempt === 'object' && attempt !== null);
}
