// Explains one request from the books: any request to the operator, a customer's own to the
// customer. Called by `tollgate explain`, the console and the customer's pages.

import type { Books } from '../ledger/books.ts';
import { parseAttempts } from '../ledger/series/attempts.ts';
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
