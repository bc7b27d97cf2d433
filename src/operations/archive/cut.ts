// Exports are read as slowly as their client takes them. Months that are archived during that time
// take rows out of the middle, so such an export ends with an error: it must not look complete.

import { booksStart } from '../../ledger/archive/anchors.ts';
import type { Database } from '../../store/contract.ts';
import { OperationError } from '../error.ts';

/**
 * Call it before the export is looked up. `cut` is the last archived receipt, 0 for none. `whole`
 * passes on pages, and throws `archived_while_read` behind the last one if months were archived since.
 */
export async function watchCut({ db }: Database, accountId: string) {
  const readCut = async (): Promise<number> => (await booksStart(db, accountId))?.sequence ?? 0;
  const cut = await readCut();
  async function* whole<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page, void> {
    yield* pages;
    if ((await readCut()) <= cut) return;
    throw new OperationError(
      'archived_while_read',
      'Requests of this account were archived while they were read. Export them again.',
    );
  }
  return { cut, whole };
}
