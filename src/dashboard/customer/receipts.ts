// The account's receipts: one, a file of all for offline verification, and stepwise verification of
// the chain. Read-only.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { formatTokens } from '../../core/money.ts';
import { type ArchivedMonth, listArchives } from '../../ledger/archive/anchors.ts';
import { receiptPages } from '../../ledger/receipt-slices.ts';
import { digestOf, monthFiles, sizeOf } from '../../operations/archive/files.ts';
import { exportLines } from '../../operations/receipt-file.ts';
import { checkReceipts } from '../../operations/receipt-steps.ts';
import { exportReceipts, showReceipt } from '../../operations/receipts.ts';
import { notFound } from '../edge/error.ts';
import { type List, wholeList } from '../edge/page.ts';
import type { CustomerRoutes } from '../edge/route.ts';
import { readSpan, SPAN_QUERY } from '../period.ts';
import type {
  ArchiveRecord,
  ReceiptCheckRecord,
  ReceiptRecord,
} from '../records/customer-ledger.ts';
import { type OwnDependencies, readRoute } from './account.ts';
import { behind, type createExports, fileResponse } from './exports.ts';

/** Each receipt is verified when written: this many block the event loop for a few milliseconds. */
const PIECE_RECEIPTS = 50;

const RECEIPTS_TYPE = 'application/jsonl';

export function receiptRoutes(
  { store: { database }, clock }: OwnDependencies,
  exports: ReturnType<typeof createExports>,
): CustomerRoutes {
  return [
    readRoute({
      path: '/receipts/check',
      query: { after: Type.Optional(Type.String({ pattern: '^\\d{1,15}$' })) },
      async handle({ who: { accountId }, query }): Promise<ReceiptCheckRecord> {
        const { balance, ...step } = await checkReceipts(
          database,
          accountId,
          Number(query.after ?? 0),
        );
        const next = step.last < step.end ? step.last : null;
        return { ...step, balance: formatTokens(balance), next };
      },
    }),
    readRoute({
      path: '/receipts/export',
      query: SPAN_QUERY,
      handle(call): Promise<Response> {
        const { accountId } = call.who;
        const span = readSpan(call.query);
        return exports.serve(call, accountId, async () => {
          const file = await exportReceipts(database, accountId, span, PIECE_RECEIPTS);
          return {
            pieces: file.pieces[Symbol.asyncIterator](),
            type: RECEIPTS_TYPE,
            filename: `receipts-${isoTime(clock()).slice(0, 10)}${behind(file.archived)}.jsonl`,
          };
        });
      },
    }),
    readRoute({
      path: '/receipts/:id',
      handle: async ({ who, param }): Promise<ReceiptRecord> =>
        showReceipt(database, param('id'), who.accountId),
    }),
    readRoute({
      path: '/receipts/:id/file',
      async handle({ who: { accountId }, param }): Promise<Response> {
        const { sequence } = (await showReceipt(database, param('id'), accountId)).receipt as {
          readonly sequence: number;
        };
        const slice = { first: sequence, last: sequence };
        const pieces = exportLines(receiptPages(database.db, accountId, slice));
        const filename = `receipt-${sequence}.jsonl`;
        return fileResponse({ pieces, type: RECEIPTS_TYPE, filename });
      },
    }),
  ];
}

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
