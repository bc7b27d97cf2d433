// The error codes of the API for the API docs page, from the table that the API answers with.

import { ERRORS } from '../../core/error.ts';
import type { CustomerRoutes } from '../edge/route.ts';
import type { ReferenceRecord } from '../records/reference.ts';
import { readRoute } from './account.ts';

/** Codes that no request of a customer gets. */
const OPERATORS: ReadonlySet<string> = new Set(['operator_only', 'misdirected_request']);

const REFERENCE: ReferenceRecord = {
  object: 'reference',
  errors: Object.entries(ERRORS)
    .filter(([code]) => !OPERATORS.has(code))
    .map(([code, { status, retry, text }]) => ({ code, status, retry, message: text })),
};

export function referenceRoutes(): CustomerRoutes {
  return [
    readRoute({
      path: '/reference',
      handle: () => REFERENCE,
    }),
  ];
}
