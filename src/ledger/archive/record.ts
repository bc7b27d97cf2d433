// Records an archived month in the books: from then on, the account's books begin after it. The files
// were written and verified before.

import { desc, eq, getTableColumns } from 'drizzle-orm';
import type { Anchor } from '../../core/anchor.ts';
import { archivedMonths } from '../../store/archive-tables.ts';
import type { Database } from '../../store/contract.ts';
import { prepareSeriesStatements } from '../series/statements.ts';
import { anchorHash } from './anchors.ts';

/** An anchor without its link to the one before it. */
export type NewAnchor = Omit<Anchor, 'previous'> & {
  readonly account: number;
  readonly idsFrom: number;
  readonly idsTo: number;
  readonly ids: Uint8Array;
};

/**
 * recorded   the month is archived
 * overtaken  another node has archived it, or an operator restores it
 * early      its usage is not in the series yet, which stay when its rows go
 */
export type ArchiveResult = 'recorded' | 'overtaken' | 'early';

const { number: _, hash, ...LINK } = getTableColumns(archivedMonths);

export async function recordArchive(database: Database, anchor: NewAnchor): Promise<ArchiveResult> {
  const { mark } = prepareSeriesStatements(database);
  return database.transaction(async (tx) => {
    const before = await tx
      .select({ last: LINK.lastSequence, state: LINK.state, hash })
      .from(archivedMonths)
      .where(eq(archivedMonths.account, anchor.account))
      .orderBy(desc(archivedMonths.firstSequence))
      .limit(1)
      .get();
    // Behind another month, the rows that the operator waits for would have no cut to go to.
    if (before?.state === 'restoring') return 'overtaken';
    if ((before?.last ?? 0) + 1 !== anchor.firstSequence) return 'overtaken';
    if ((await mark()) < anchor.lastRow) return 'early';
    const linked = { ...anchor, previous: before?.hash ?? null };
    await tx
      .insert(archivedMonths)
      .values({ ...linked, hash: anchorHash(linked), state: 'removing' })
      .run();
    return 'recorded';
  });
}
