// The error for invalid input about accounts and keys, with a code and a message. The command line
// and the dashboard print it; the /v1 surface never does.

type IdentityErrorCode =
  | 'invalid_email'
  | 'email_taken'
  | 'account_not_found'
  | 'unknown_plan'
  | 'key_not_found'
  | 'key_not_active'
  | 'invalid_key_name'
  | 'invalid_expiry'
  | 'invalid_grace'
  | 'invalid_networks'
  | 'invalid_models'
  | 'invalid_scopes'
  | 'token_exists'
  | 'token_not_found'
  | 'key_paused_by_operator'
  | 'key_limit_reached'
  | 'key_creation_limit_reached'
  | 'invalid_block'
  | 'already_blocked'
  | 'block_not_found'
  | 'invalid_message'
  | 'invalid_credentials'
  | 'invalid_password'
  | 'invalid_code'
  | 'sign_in_again'
  | 'invalid_token'
  | 'too_many_attempts'
  | 'sign_up_closed'
  | 'invalid_invite'
  | 'invite_not_found'
  | 'operator_exists'
  | 'operator_not_found'
  | 'invalid_role'
  | 'last_admin'
  | 'session_not_found'
  | 'two_factor_on'
  | 'two_factor_off'
  | 'deletion_not_asked'
  | 'account_inactive';

/** Thrown before any change, or inside a transaction that is then rolled back. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  readonly code: IdentityErrorCode;
  /** When to retry; for `too_many_attempts` and `key_creation_limit_reached`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: IdentityErrorCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
