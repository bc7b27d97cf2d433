// The archived months of the account, and the file of receipts of each. Read-only.

import { isoTime } from '../../core/calendar.ts';
import { formatTokens } from '../../core/money.ts';
import { type ArchivedMonth, listArchives } from '../../ledger/archive/anchors.ts';
import { digestOf, monthFiles, sizeOf } from '../../operations/archive/files.ts';
import { notFound } from '../edge/error.ts';
import { type List, wholeList } from '../edge/page.ts';
import type { CustomerRoutes } from '../edge/route.ts';
import type { ArchiveRecord } from '../records/customer-ledger.ts';
import { type OwnDependencies, readRoute } from './account.ts';
import type { createExports } from './exports.ts';

export function archiveRoutes(
  { store: { database }, archives }: OwnDependencies,
  exports: ReturnType<typeof createExports>,
): CustomerRoutes {
  /** Absent where another machine has the file, or none. */
  function fileOf(archive: ArchivedMonth): string | undefined {
    if (archives === undefined) return undefined;
    const { receipts } = monthFiles(archives, archive);
    return sizeOf(receipts) === archive.receiptsBytes ? receipts : undefined;
  }

  return [
    readRoute({
      path: '/archives',
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
    readRoute({
      path: '/archives/:month/receipts',
      async handle(call): Promise<Response> {
        const { accountId } = call.who;
        const found = await listArchives(database.db, accountId);
        const archive = found.find(({ month }) => month === call.param('month'));
        const file = archive && fileOf(archive);
        if (archive === undefined || file === undefined) throw notFound('archive');
        return exports.serve(call, accountId, async () => {
          // Another account's file may have the same size.
          const digest = await digestOf(file).catch(() => undefined);
          if (digest?.sha256.toHex() !== archive.receiptsDigest.toHex()) throw notFound('archive');
          return {
            pieces: Bun.file(file).stream().values(),
            type: 'application/gzip',
            filename: `receipts-${archive.month}.jsonl.gz`,
          };
        });
      },
    }),
  ];
}
