// Removes the rows of archived requests in short steps, in the order of their numbers, while the
// ledger writes. A step is one statement; a crash between two leaves rows that the next run removes.
// The last row of the table always stays: SQLite would use its number again.

import { type SQL, sql } from 'drizzle-orm';
import { ARCHIVE_STATES, type ArchiveState } from '../../store/archive-tables.ts';
import type { Database } from '../../store/contract.ts';
import { nextSize, type StepOptions } from '../steps.ts';

const ROWS_FIRST = 200;
const ROWS = { min: 50, max: 5_000 };

/**
 * Removes what the archives up to the number `upTo` cover and marks them as removed. Their files
 * were verified. Resolves with the number of removed rows.
 */
export async function removeArchived(
  database: Database,
  upTo: number,
  options: StepOptions,
): Promise<number> {
  const { monotonic, stepMs, pauseMs, isStopped } = options;
  const [ends] = await database.rows<{ first: bigint | null; last: bigint | null }>(
    sql`select (select min(number) from requests) as first,
      (select max(last_row) from archived_months where number <= ${upTo} and state <> ${RESTORING}) as last`,
  );
  const last = Number(ends?.last ?? 0n);
  let after = Number(ends?.first ?? 1n) - 1;
  let size = ROWS_FIRST;
  let removed = 0;
  while (after < last) {
    if (isStopped()) return removed;
    const to = Math.min(last, after + size);
    const startedAt = monotonic();
    removed += await removeRange(database, after, to, upTo);
    after = to;
    size = nextSize({ size, tookMs: monotonic() - startedAt }, stepMs, ROWS);
    await Bun.sleep(pauseMs);
  }
  await database.rows(
    sql`update archived_months set state = ${REMOVED} where state = ${REMOVING} and number <= ${upTo}`,
  );
  return removed;
}

const stateCode = (state: ArchiveState): SQL => sql.raw(String(ARCHIVE_STATES.indexOf(state)));
const REMOVING = stateCode('removing');
const REMOVED = stateCode('removed');
const RESTORING = stateCode('restoring');

async function removeRange(
  { rows }: Database,
  after: number,
  to: number,
  upTo: number,
): Promise<number> {
  const gone = await rows<{ number: bigint }>(
    sql`delete from requests where number > ${after} and number <= ${to}
      and number < (select max(number) from requests)
      and exists (select 1 from archived_months m where m.account = requests.account
        and m.first_sequence <= requests.sequence and m.last_sequence >= requests.sequence
        and m.state <> ${RESTORING} and m.number <= ${upTo})
      returning number`,
  );
  return gone.length;
}
