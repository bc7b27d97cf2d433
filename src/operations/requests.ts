// Explains one request from the books: any request to the operator, a customer's own to the
// customer. Called by `tollgate explain`, the console and the customer's pages.

import type { Books } from '../ledger/books.ts';
import { type CustomerExplanation, customerExplanation } from './customer-explanation.ts';
import { OperationError } from './error.ts';
import { type Explanation, explanation, type Terms } from './explanation.ts';

/** Throws `request_not_found`. */
export async function explainRequest(
  books: Books,
  terms: Terms,
  requestId: string,
): Promise<Explanation> {
  const history = await books.explain(requestId);
  if (history === undefined) throw notFound();
  return explanation(history, terms);
}

/** Throws `request_not_found`, also for the request of another account. */
export async function explainToCustomer(
  books: Books,
  terms: Terms,
  accountId: string,
  requestId: string,
): Promise<CustomerExplanation> {
  const history = await books.explain(requestId);
  if (history === undefined || history.hold.accountId !== accountId) throw notFound();
  return customerExplanation(history, terms);
}

function notFound(): OperationError {
  return new OperationError(
    'request_not_found',
    'There is no request with this id in the books. A refused request leaves no entry.',
  );
}
