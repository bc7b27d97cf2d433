// One request as the books have it, for whoever may ask: the operator about every one, a customer
// about their own. Called by `tollgate explain`, the console and the customer's pages.

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

/** Throws `request_not_found`, also for what another account has asked. */
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
    'The books know no request with this id. A request that was refused leaves no entry.',
  );
}
