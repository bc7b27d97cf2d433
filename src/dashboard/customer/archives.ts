// The archived months of the account, and the file of receipts of each. Read-only.

import { isoTime } from '../../core/calendar.ts';
import { formatTokens } from '../../core/money.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { type ArchivedMonth, listArchives } from '../../ledger/archive/anchors.ts';
import { digestOf, monthFiles, sizeOf } from '../../operations/archive/files.ts';
import { notFound } from '../edge/error.ts';
import { type List, wholeList } from '../edge/page.ts';
import { type Route, sessionRoute } from '../edge/route.ts';
import type { ArchiveRecord } from '../records/customer-ledger.ts';
import { type OwnDependencies, WHILE_INACTIVE } from './account.ts';
import type { createExports } from './exports.ts';

export function archiveRoutes(
  { store: { database }, archives }: OwnDependencies,
  exports: ReturnType<typeof createExports>,
): readonly Route<SignedInCustomer>[] {
  /** Absent where another machine has the file, or none. */
  function fileOf(archive: ArchivedMonth): string | undefined {
    if (archives === undefined) return undefined;
    const { receipts } = monthFiles(archives, archive);
    return sizeOf(receipts) === archive.receiptsBytes ? receipts : undefined;
  }

  /**
   * Another account's file may have the same size. Reads the whole file, also when its client has
   * left, so an account can ask for as few at a time as exports. Throws `too_many_attempts`.
   */
  async function isRecorded(
    file: string,
    { accountId, receiptsDigest }: ArchivedMonth,
  ): Promise<boolean> {
    const release = exports.begin(accountId);
    const found = await digestOf(file)
      .catch(() => undefined)
      .finally(release);
    return found?.sha256.toHex() === receiptsDigest.toHex();
  }

  return [
    sessionRoute({
      method: 'GET',
      path: '/archives',
      standings: WHILE_INACTIVE,
      async handle({ who: { accountId } }): Promise<List<ArchiveRecord>> {
        const found = await listArchives(database.db, accountId);
        return wholeList(
          found.toReversed().map((archive) => ({
            month: archive.month,
            requests: archive.requests,
            first: archive.firstSequence,
            last: archive.lastSequence,
            closing_balance: formatTokens(archive.closing),
            archived_at: isoTime(archive.archivedAt),
            has_file: fileOf(archive) !== undefined,
          })),
        );
      },
    }),
    sessionRoute({
      method: 'GET',
      path: '/archives/:month/receipts',
      standings: WHILE_INACTIVE,
      async handle({ who: { accountId }, param }): Promise<Response> {
        const found = await listArchives(database.db, accountId);
        const archive = found.find(({ month }) => month === param('month'));
        if (archive === undefined) throw notFound('archive');
        const file = fileOf(archive);
        if (file === undefined || !(await isRecorded(file, archive))) throw notFound('archive');
        return new Response(Bun.file(file).stream(), {
          headers: {
            'content-type': 'application/gzip',
            'content-disposition': `attachment; filename="receipts-${param('month')}.jsonl.gz"`,
          },
        });
      },
    }),
  ];
}
