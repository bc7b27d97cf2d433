// Explains one request from the books: any request to the operator, a customer's own to the
// customer; and refused requests, which are in no books. Called by `tollgate explain`, the console and the customer's pages.

import { refusalProblem } from '../core/advice.ts';
import { isoTime } from '../core/calendar.ts';
import type { Books } from '../ledger/books.ts';
import { parseAttempts } from '../ledger/series/attempts.ts';
import { createRefusalList, type RefusedRequest } from '../refusals/list.ts';
import { archivedForCustomer, archivedForOperator } from './archive/notices.ts';
import { type CustomerExplanation, customerExplanation } from './customer-explanation.ts';
import { OperationError } from './error.ts';
import { type Explanation, explanation, type Terms } from './explanation.ts';
import type { Store } from './store.ts';
import { wordsOfAttempts } from './upstream-words.ts';

/** Throws `request_not_found`, or `request_archived` with the file. */
export async function explainRequest(
  { books, database }: Pick<Store, 'books' | 'database'>,
  terms: Terms,
  requestId: string,
): Promise<Explanation> {
  const history = await books.explain(requestId);
  if (history === undefined) {
    const [archive, ...others] = await books.archivesOf(requestId);
    throw archive === undefined ? notFound() : archivedForOperator([archive, ...others]);
  }
  const attempts = parseAttempts(history.record?.attempts ?? '[]');
  return explanation(history, terms, await wordsOfAttempts(database, requestId, attempts));
}

/** Throws `request_not_found`, also for the request of another account, or `request_archived`. */
export async function explainToCustomer(
  books: Books,
  terms: Terms,
  accountId: string,
  requestId: string,
): Promise<CustomerExplanation> {
  const history = await books.explain(requestId);
  if (history === undefined || history.hold.accountId !== accountId) {
    const [archive] = await books.archivesOf(requestId, accountId);
    throw archive === undefined ? notFound() : archivedForCustomer(archive);
  }
  return customerExplanation(history, terms);
}

function notFound(): OperationError {
  return new OperationError(
    'request_not_found',
    'There is no request with this id. Refused requests are kept for seven days; equal ones of a minute are found by the id of the first.',
  );
}

/** A refused request, or several equal ones of one minute, as its own page shows it. */
export function refusedRecord(row: RefusedRequest, keyName: string | null) {
  return {
    object: 'refused_request',
    request_id: row.id,
    started_at: isoTime(row.at),
    last_at: isoTime(row.lastAt),
    count: row.count,
    key_id: row.keyId,
    key_name: keyName,
    model: row.model,
    route: row.route,
    problem: refusalProblem(row.code, row.message),
  } as const;
}

/** With ids in place of names. `undefined` unless the id is that of the first of equal ones. */
export async function explainRefusal({ database }: Pick<Store, 'database'>, requestId: string) {
  const row = await createRefusalList(database).find(requestId);
  return row && { ...refusedRecord(row, null), account_id: row.accountId };
}
