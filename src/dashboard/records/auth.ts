// What the pages of signing in, signing up and security settings are told. The paths are below
// /dashboard/api for customers and /operator/api for operators, and the same in both except where
// a line says otherwise. Refusals are `{ "error": { code, message, param?, request_id } }`.
//
// GET    /auth/session               SessionRecord: always 200, for visitors too
// POST   /auth/login                 { email, password }                  SignInRecord, cookie
//          401 invalid_credentials, 429 too_many_attempts (retry-after)
// POST   /auth/login/second-factor   { code }: six digits or a recovery code  SignInRecord, cookie
//          401 invalid_code: try again; 401 sign_in_again: begin with /auth/login again
// POST   /auth/logout                204, whoever asks
// POST   /auth/signup                { email, password, invite? }         MailedRecord   customers
//          The same answer for known and unknown addresses. Asking again sends the mail again.
//          403 sign_up_closed, 403 invalid_invite, 400 invalid_email, 400 invalid_password
// POST   /auth/verify-email          { token, password }                  SignInRecord, cookie   customers
//          The password chosen at sign-up, so that nobody confirms the sign-up of somebody else.
//          400 invalid_token (used, expired, unknown), 401 invalid_credentials
// POST   /auth/password/forgot       { email }                            MailedRecord
// POST   /auth/password/reset        { token, password }                  204; then sign in
//          Also an operator's first password. 400 invalid_token, 400 invalid_password
// POST   /auth/password/change       { current, password }                204, cookie; ends the other sessions
// POST   /auth/step-up               { password }                         StepUpRecord, cookie
// GET    /auth/sessions              SessionListRecord
// DELETE /auth/sessions/:id          204
// DELETE /auth/sessions              204: all but the one that asks
// POST   /auth/two-factor            step-up; {}                          TwoFactorStartRecord
// POST   /auth/two-factor/confirm    step-up; { code }                    RecoveryCodesRecord, cookie
// DELETE /auth/two-factor            step-up                              204, cookie
// POST   /auth/two-factor/recovery-codes   step-up; {}                    RecoveryCodesRecord
// POST   /auth/deletion              step-up; {}                          DeletionRecord   customers
// DELETE /auth/deletion              204: the account stays               customers
//
// Mailed links open pages, which then POST the token: /dashboard/verify?token=…,
// /dashboard/reset?token=…, /operator/reset?token=…, an operator's first one
// /operator/welcome?token=…, an invitation /dashboard/signup?invite=….
// Passwords have 12 to 256 characters.

type SignUpMode = 'open' | 'invite' | 'closed';

/** `log`: there is no mail server, so links are in the operator's log; pages say so. */
export type MailMode = 'smtp' | 'log';

export type SessionRecord = {
  readonly object: 'session';
  readonly realm: 'customer' | 'operator';
  readonly sign_up: SignUpMode;
  readonly mail: MailMode;
  /** Null: nobody is signed in. */
  readonly user: SessionUserRecord | null;
};

export type SessionUserRecord = {
  readonly email: string;
  readonly session_id: string;
  readonly two_factor: boolean;
  /** Null without a second factor. */
  readonly recovery_codes_left: number | null;
  /** Until when what needs the password may be done without asking for it again. */
  readonly proven_until: string;
  readonly expires_at: string;
  /** Null for operators. */
  readonly account: SessionAccountRecord | null;
};

export type SessionAccountRecord = {
  readonly id: string;
  readonly plan: { readonly slug: string; readonly name: string };
  readonly standing: 'active' | 'suspended' | 'pending_deletion' | 'blocked';
  /** When it is deleted, where its owner has asked for that and may take it back. */
  readonly deletion_due_at: string | null;
};

export type SignInRecord = {
  readonly object: 'sign_in';
  readonly status: 'signed_in' | 'second_factor_required';
};

/** The answer is this one whether a mail is on its way or there was nobody to send it to. */
export type MailedRecord = { readonly object: 'mailed'; readonly mail: MailMode };

export type StepUpRecord = { readonly object: 'step_up'; readonly proven_until: string };

export type SessionListRecord = {
  readonly object: 'list';
  readonly data: readonly ListedSessionRecord[];
};

export type ListedSessionRecord = {
  readonly id: string;
  readonly object: 'listed_session';
  /** Whether it is the one that asks. */
  readonly current: boolean;
  readonly created_at: string;
  /** Exact to a minute. */
  readonly last_seen_at: string;
  readonly expires_at: string;
  readonly address: string;
  /** As the browser calls itself; text from outside. */
  readonly user_agent: string;
};

export type TwoFactorStartRecord = {
  readonly object: 'two_factor_start';
  /** `otpauth://totp/…`, for a QR code. */
  readonly uri: string;
  /** The same secret in base32, to be typed. */
  readonly secret: string;
};

/** Shown once. Each of them stands in for one code. */
export type RecoveryCodesRecord = {
  readonly object: 'recovery_codes';
  readonly codes: readonly string[];
};

export type DeletionRecord = { readonly object: 'deletion'; readonly due_at: string };
