// Errors about requests that are archived: with the file for the operator, with the month for customers.

import { isoTime, type Span } from '../../core/calendar.ts';
import { type ArchivedMonth, archivedStarts } from '../../ledger/archive/anchors.ts';
import type { Database } from '../../store/contract.ts';
import { OperationError } from '../error.ts';
import { fileNames } from './files.ts';

/** For the operator: where the request is, and how it comes back. */
export function archivedForOperator([archive, ...others]: readonly [
  ArchivedMonth,
  ...ArchivedMonth[],
]): OperationError {
  const files = [archive, ...others].map((each) => fileNames(each).books);
  return new OperationError(
    'request_archived',
    `This request was archived on ${dayOf(archive)}, file ${files.join(' or ')}. tollgate archive restore --month ${archive.month} --account ${archive.accountId} writes it back.`,
  );
}

/** For the customer, about an own request. */
export function archivedForCustomer({ month, archivedAt }: ArchivedMonth): OperationError {
  return new OperationError(
    'request_archived',
    `Requests of ${month} were archived on ${dayOf({ archivedAt })}. Their receipts are in the archive of that month; the totals of each day are kept.`,
  );
}

/**
 * Throws `requests_archived` where requests that started in a period are archived, of one account or of
 * all. For sums over requests: call it before they are read and again behind the last one.
 */
export async function requireUnarchived(
  { db }: Database,
  span: Span,
  accountId?: string,
): Promise<void> {
  const { first, last, archivedAt } = (await archivedStarts(db, span, accountId)) ?? {};
  if (first == null || last == null || archivedAt == null) return;
  throw new OperationError(
    'requests_archived',
    `Requests of this period are in archives (${monthsText([{ month: first }, { month: last }])}), the last ones since ${dayOf({ archivedAt })}. Choose a later period, or write them back: tollgate archive restore --month ${first}.`,
  );
}

/** The first and the last of some months; empty where there are none. */
export function monthsText(archives: readonly Pick<ArchivedMonth, 'month'>[]): string {
  const months = archives.map(({ month }) => month).toSorted();
  const [first, last] = [months[0] ?? '', months.at(-1) ?? ''];
  return first === last ? first : `${first} to ${last}`;
}

function dayOf({ archivedAt }: Pick<ArchivedMonth, 'archivedAt'>): string {
  return isoTime(archivedAt).slice(0, 10);
}
