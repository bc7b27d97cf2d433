// Invitations, operators and tokens of their API, for the console.
//
// GET    /operators
// POST   /operators               step-up; { email, role? }: viewer   OperatorLinkRecord
// POST   /operators/:id/role      step-up; { role }; not oneself       OperatorRecord
// POST   /operators/:id/reset     step-up                             OperatorLinkRecord
// DELETE /operators/:id           step-up; not oneself                204
// DELETE /accounts/:id/second-factor   step-up                        204
// GET    /tokens                  newest first, at most 1,000
// POST   /tokens                  step-up; { name, scopes, expires_at?: 90 days }   CreatedOperatorTokenRecord
// POST   /tokens/:id/revoke       step-up                             OperatorTokenRecord

import { type Static, Type } from '@sinclair/typebox';
import type { operatorTokenRecord } from '../../identity/operator-tokens.ts';
import type { operatorRecord } from '../../operations/people.ts';
import { instant, list, named, nullable, oneOf, text } from './schema.ts';

export const inviteAnswer = named('Invite', {
  id: text,
  object: Type.Literal('invite'),
  email: nullable(text),
  status: oneOf('open', 'used', 'revoked', 'expired'),
  created_at: instant,
  expires_at: instant,
});

export const inviteListAnswer = list('InviteList', inviteAnswer);

/** The only response that contains the link. */
export const createdInviteAnswer = named('CreatedInvite', {
  ...inviteAnswer.properties,
  link: text,
});

export type InviteRecord = Static<typeof inviteAnswer>;

export type CreatedInviteRecord = Static<typeof createdInviteAnswer>;

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
