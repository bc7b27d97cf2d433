// Invitations, operators and tokens of their API, for the console.
//
// GET    /invites                 paged, newest first
// POST   /invites                 step-up; { email?, expires_at? }    CreatedInviteRecord
// POST   /invites/:id/revoke      step-up                             InviteRecord
// GET    /operators
// POST   /operators               step-up; { email, role? }: viewer   OperatorLinkRecord
// POST   /operators/:id/role      step-up; { role }; not oneself       OperatorRecord
// POST   /operators/:id/reset     step-up                             OperatorLinkRecord
// DELETE /operators/:id           step-up; not oneself                204
// DELETE /accounts/:id/second-factor   step-up                        204
// GET    /tokens                  newest first, at most 1,000
// POST   /tokens                  step-up; { name, scopes, expires_at?: 90 days }   CreatedOperatorTokenRecord
// POST   /tokens/:id/revoke       step-up                             OperatorTokenRecord

import type { operatorTokenRecord } from '../../identity/operator-tokens.ts';
import type { inviteRecord, operatorRecord } from '../../operations/people.ts';

export type InviteRecord = ReturnType<typeof inviteRecord>;

/** The only response that contains the link. */
export type CreatedInviteRecord = InviteRecord & { readonly link: string };

export type OperatorRecord = ReturnType<typeof operatorRecord>;

/** The link to set a password: works once, within 30 minutes; shown once. */
export type OperatorLinkRecord = {
  readonly object: 'operator_link';
  readonly email: string;
  readonly link: string;
};

export type OperatorTokenRecord = ReturnType<typeof operatorTokenRecord>;

/** The only response that contains the token. */
export type CreatedOperatorTokenRecord = OperatorTokenRecord & { readonly token: string };
