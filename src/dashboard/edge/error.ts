// All error codes of the dashboard and console APIs with their status. Includes codes of the
// domains, so that domain errors are returned unchanged.

import { CatalogError } from '../../catalog/source.ts';
import type { Sentence } from '../../core/sentence.ts';
import { IdentityError } from '../../identity/error.ts';
import { LedgerRefusal, LedgerSilent, LedgerUnavailable } from '../../ledger/error.ts';
import { OperationError } from '../../operations/error.ts';
import { isStatementTimeout, isStoreFailure, isUnknownOutcome } from '../../store/error.ts';

const STATUS = {
  invalid_request: 400,
  not_signed_in: 401,
  invalid_operator_token: 401,
  scope_required: 403,
  token_without_owner: 403,
  invalid_credentials: 401,
  two_factor_required: 401,
  session_required: 403,
  cross_origin: 403,
  step_up_required: 403,
  role_not_permitted: 403,
  account_inactive: 403,
  account_blocked: 403,
  email_not_verified: 403,
  sign_up_closed: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  too_many_attempts: 429,
  too_many_feeds: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

export type DashboardErrorCode = keyof typeof STATUS;

/** Codes of identity alone, other than invalid input. */
const IDENTITY_STATUS: Readonly<Record<string, number>> = {
  account_not_found: 404,
  key_not_found: 404,
  block_not_found: 404,
  token_not_found: 404,
  email_taken: 409,
  key_not_active: 409,
  key_paused_by_operator: 403,
  key_limit_reached: 409,
  already_blocked: 409,
  key_creation_limit_reached: 429,
  invalid_code: 401,
  sign_in_again: 401,
  invalid_invite: 403,
  invite_not_found: 404,
  operator_exists: 409,
  token_exists: 409,
  operator_not_found: 404,
  last_admin: 409,
  session_not_found: 404,
  two_factor_on: 409,
  two_factor_off: 409,
  deletion_not_asked: 409,
};

/** The same for operations. */
const OPERATION_STATUS: Readonly<Record<string, number>> = {
  request_not_found: 404,
  request_archived: 410,
  requests_archived: 410,
  receipt_not_found: 404,
  no_receipts: 404,
  upstream_not_found: 404,
  model_not_found: 404,
  code_not_found: 404,
  catalog_changed: 409,
  catalog_not_writable: 409,
  not_editable: 409,
  entry_exists: 409,
  code_used: 409,
  alert_not_found: 404,
  approval_not_found: 404,
  approval_conflict: 409,
  approval_decided: 409,
  approval_expired: 409,
  too_many_approvals: 409,
  own_approval: 403,
  alert_raised_again: 409,
  code_expired: 409,
  code_revoked: 409,
  reference_expired: 409,
};

/** The status of an answer with this code. */
export function statusOf(code: string): number {
  return ALL_STATUS[code] ?? 400;
}

const ALL_STATUS: Readonly<Record<string, number>> = {
  ...OPERATION_STATUS,
  ...IDENTITY_STATUS,
  ...STATUS,
  ledger_refused: 409,
};

/** The form field that a code is about. */
const PARAMS: Readonly<Record<string, string>> = {
  invalid_reference: 'reference',
  reference_expired: 'reference',
  invalid_amount: 'amount',
  invalid_reason: 'reason',
  invalid_email: 'email',
  invalid_role: 'role',
  email_taken: 'email',
  unknown_plan: 'plan',
  invalid_key_name: 'name',
  invalid_models: 'models',
  invalid_scopes: 'scopes',
  invalid_networks: 'networks',
  invalid_budget: 'budget',
  invalid_expiry: 'expires_at',
  invalid_message: 'message',
  invalid_block: 'value',
  already_blocked: 'value',
  confirmation_required: 'confirm',
};

/**
 * An error that the page shows. `message` says what happened and what to do, and never echoes input.
 */
export class DashboardError extends Error {
  override readonly name = 'DashboardError';
  readonly code: DashboardErrorCode;
  /** The invalid field as a path, such as `limits.requests_per_minute`. */
  readonly param: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: DashboardErrorCode,
    message: string,
    more: { readonly param?: string | undefined; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.code = code;
    this.param = more.param;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

const UNAVAILABLE = 'The ledger cannot be written now. Nothing was changed. Try again in a minute.';

const TOO_LONG =
  'The database took too long to read this. Choose a shorter time or fewer filters, and try again.';

const UNKNOWN =
  'The ledger did not confirm this change. Check whether it was made before you retry.';

export type ErrorReply = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly param?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** The message for a page, which shows it in its language. */
  readonly sentences?: readonly Sentence[];
};

/** The response for an error; `undefined` for unexpected errors. */
export function refusalOf(error: unknown): ErrorReply | undefined {
  if (error instanceof DashboardError) {
    const { code, message, param, retryAfterSeconds } = error;
    return { status: STATUS[code], code, message, param, retryAfterSeconds };
  }
  if (error instanceof IdentityError) {
    const { code, message, retryAfterSeconds } = error;
    return { status: statusOf(code), code, message, param: PARAMS[code], retryAfterSeconds };
  }
  if (error instanceof OperationError) {
    const { code, message } = error;
    return { status: statusOf(code), code, message, param: PARAMS[code] };
  }
  // Its sentences name places and contain no values.
  if (error instanceof CatalogError) {
    const message = error.message.replaceAll('\n', '; ');
    return { status: 400, code: 'invalid_request', message, sentences: error.problems };
  }
  if (error instanceof LedgerRefusal) {
    const code = 'ledger_refused';
    return { status: statusOf(code), code, message: error.message };
  }
  if (isStatementTimeout(error)) return { status: 503, code: 'unavailable', message: TOO_LONG };
  if (error instanceof LedgerUnavailable || isStoreFailure(error)) {
    const isUnknown = error instanceof LedgerSilent || isUnknownOutcome(error);
    const message = isUnknown ? UNKNOWN : UNAVAILABLE;
    return { status: 503, code: 'unavailable', message };
  }
  return undefined;
}

/** `param` is the invalid field, where there is one. */
export function invalidRequest(message: string, param?: string): DashboardError {
  return new DashboardError('invalid_request', message, { param });
}

/** The same response for a missing record and for one of another account. */
export function notFound(what: string): DashboardError {
  return new DashboardError('not_found', `This ${what} does not exist.`);
}
