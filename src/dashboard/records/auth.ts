// The API of the sign-in, sign-up and security pages. Paths are below
// /dashboard/api for customers and /operator/api for operators, and the same in both unless noted.
// Errors are `{ "error": { code, message, param?, request_id } }`.
//
// GET    /auth/session               SessionRecord: always 200, for visitors too
// POST   /auth/login                 { email, password }                  SignInRecord, cookie
//          401 invalid_credentials, 429 too_many_attempts (retry-after)
// POST   /auth/login/second-factor   { code }: six digits or a recovery code  SignInRecord, cookie
//          401 invalid_code: try again; 401 sign_in_again: start over with /auth/login
// POST   /auth/logout                204, always
// POST   /auth/signup                { email, password, invite? }         MailedRecord   customers
//          The same response for known and unknown addresses. A repeated call sends the mail again.
//          403 sign_up_closed, 403 invalid_invite, 400 invalid_email, 400 invalid_password
// POST   /auth/verify-email          { token, password }                  SignInRecord, cookie   customers
//          Needs the password chosen at sign-up, which proves who signed up.
//          400 invalid_token (used, expired, unknown), 401 invalid_credentials
// POST   /auth/password/forgot       { email }                            MailedRecord
// POST   /auth/password/reset        { token, password }                  204; then sign in
//          Also an operator's first password. 400 invalid_token, 400 invalid_password
// POST   /auth/password/change       { current, password }                204, cookie; ends the other sessions
// POST   /auth/step-up               { password }                         StepUpRecord, cookie
// GET    /auth/sessions              SessionListRecord
// DELETE /auth/sessions/:id          204
// DELETE /auth/sessions              204: all but the current one
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

import type { Permission, Role } from '../../core/role.ts';

type SignUpMode = 'open' | 'invite' | 'closed';

/** `log`: without a mail server, links are in the server log, and pages say so. */
export type MailMode = 'smtp' | 'log';

export type SessionRecord = {
  readonly object: 'session';
  readonly realm: 'customer' | 'operator';
  readonly sign_up: SignUpMode;
  readonly mail: MailMode;
  /** What a million service tokens cost in USD. */
  readonly usd_per_million: string;
  /** Null when signed out. */
  readonly user: SessionUserRecord | null;
};

export type SessionUserRecord = {
  readonly email: string;
  readonly session_id: string;
  readonly two_factor: boolean;
  /** Null without two-factor authentication. */
  readonly recovery_codes_left: number | null;
  /** Until when protected actions need no password. */
  readonly proven_until: string;
  readonly expires_at: string;
  /** Null for customers. */
  readonly role: Role | null;
  /** What the role allows; the pages hide the rest. Empty for customers. */
  readonly permissions: readonly Permission[];
  /** Null for operators. */
  readonly account: SessionAccountRecord | null;
};

export type SessionAccountRecord = {
  readonly id: string;
  readonly plan: { readonly slug: string; readonly name: string };
  readonly standing: 'active' | 'suspended' | 'pending_deletion' | 'blocked';
  /** When it will be deleted, if the owner requested that and can still cancel. */
  readonly deletion_due_at: string | null;
};

export type SignInRecord = {
  readonly object: 'sign_in';
  readonly status: 'signed_in' | 'second_factor_required';
};

/** The same response whether or not a mail was sent. */
export type MailedRecord = { readonly object: 'mailed'; readonly mail: MailMode };

export type StepUpRecord = { readonly object: 'step_up'; readonly proven_until: string };

export type SessionListRecord = {
  readonly object: 'list';
  readonly data: readonly ListedSessionRecord[];
};

export type ListedSessionRecord = {
  readonly id: string;
  readonly object: 'listed_session';
  /** Whether it is the current session. */
  readonly current: boolean;
  readonly created_at: string;
  /** Accurate to a minute. */
  readonly last_seen_at: string;
  readonly expires_at: string;
  readonly address: string;
  /** The User-Agent header; untrusted text. */
  readonly user_agent: string;
};

export type TwoFactorStartRecord = {
  readonly object: 'two_factor_start';
  /** `otpauth://totp/…`, for a QR code. */
  readonly uri: string;
  /** The same secret in base32, for typing. */
  readonly secret: string;
};

/** Shown once. Each replaces one code. */
export type RecoveryCodesRecord = {
  readonly object: 'recovery_codes';
  readonly codes: readonly string[];
};

export type DeletionRecord = { readonly object: 'deletion'; readonly due_at: string };
