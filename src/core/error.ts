// The error that request code throws on purpose: a code of the table with its details.

import { type ChatErrorType, ERRORS, type ErrorCode, type ErrorType } from './error-table.ts';
import type { LimitView } from './plan.ts';

export { ERRORS, type ErrorCode } from './error-table.ts';

type ErrorDetail = {
  /** The message for the caller; defaults to the table's. Never contains the caller's values. */
  readonly message?: string;
  /** The path of the offending field, such as `messages[3].content`. */
  readonly param?: string;
  readonly retryAfterSeconds?: number;
  /** The remaining limits, for the headers of a refusal. */
  readonly limits?: LimitView;
  /** Whether to close the connection, so that another client can use its place. */
  readonly closesConnection?: boolean;
  /** A word that client libraries recognize; Messages only. */
  readonly hint?: ErrorHint;
  /** Whose key was refused, for the account's own list of refusals. Never sent to the client. */
  readonly caller?: Caller;
};

type Caller = { readonly accountId: string; readonly keyId: string };

type ErrorHint = 'thread_not_found';

/** Statuses of which some SDKs would retry a part, and which waiting does not change. */
const NEVER_RETRIED: readonly number[] = [401, 402, 403, 410];

/** The only error that request code throws on purpose. Any other is answered as internal. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly limits: LimitView | undefined;
  readonly hint: ErrorHint | undefined;
  readonly closesConnection: boolean;
  readonly caller: Caller | undefined;

  constructor(code: ErrorCode, detail: ErrorDetail = {}) {
    super(detail.message ?? ERRORS[code].text);
    this.code = code;
    this.param = detail.param;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.limits = detail.limits;
    this.hint = detail.hint;
    this.closesConnection = detail.closesConnection ?? false;
    this.caller = detail.caller;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get messagesType(): ErrorType {
    return ERRORS[this.code].type;
  }

  get chatType(): ChatErrorType {
    const { chatType, type } = ERRORS[this.code];
    return chatType ?? type;
  }

  /**
   * Whether to tell SDKs not to retry automatically. Waits above a minute count too: one SDK sleeps
   * for any `retry-after`, up to 24 days.
   */
  get forbidsRetry(): boolean {
    if (this.retryAfterSeconds !== undefined && this.retryAfterSeconds > 60) return true;
    return NEVER_RETRIED.includes(this.status);
  }
}

/** Shorthand for the most frequent refusal: 400 with the path of the field and the reason. */
export function invalidRequest(param: string, reason: string): GatewayError {
  return new GatewayError('invalid_request', { param, message: `${param}: ${reason}` });
}
