// Invitations, operators, and removal of lost two-factor authentication. Links are returned once;
// only their digests are stored.

import { Type } from '@sinclair/typebox';
import { ROLES } from '../../core/role.ts';
import type { SignedInOperator } from '../../identity/signed-in.ts';
import { inviteRecord, operatorRecord } from '../../operations/people.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import { DashboardError, notFound } from '../edge/error.ts';
import { type List, numberedList, PAGE_QUERY, wholeList } from '../edge/page.ts';
import {
  type OperatorRoutes,
  oneOf,
  type Route,
  scopedRoute,
  stepUpRoute,
  viewRoute,
} from '../edge/route.ts';
import { readFuture, UNTIL } from '../period.ts';
import {
  createdInviteAnswer,
  inviteAnswer,
  inviteListAnswer,
  type OperatorLinkRecord,
  type OperatorRecord,
} from '../records/operator-people.ts';

type Dependencies = Pick<ConsoleDependencies, 'signIn' | 'store' | 'clock'>;

const EMAIL = Type.String({ minLength: 3, maxLength: 254 });

export function peopleRoutes(dependencies: Dependencies): OperatorRoutes {
  return [...inviteRoutes(dependencies), ...operatorRoutes(dependencies), lostFactor(dependencies)];
}

function inviteRoutes({ signIn, clock }: Dependencies): OperatorRoutes {
  const { invites, links } = signIn;
  return [
    scopedRoute({
      method: 'GET',
      path: '/invites',
      name: 'list_invites',
      scope: 'invites:read',
      summary: 'Lists invitations without their links, newest first.',
      query: PAGE_QUERY,
      answer: inviteListAnswer,
      handle: ({ query }) =>
        numberedList(
          query,
          ({ limit, before }) => invites.page(limit, before),
          ({ invite }) => inviteRecord(invite, clock()),
          ({ number }) => number,
        ),
    }),
    scopedRoute({
      method: 'POST',
      path: '/invites',
      name: 'create_invite',
      scope: 'invites:write',
      summary: 'Creates an invitation, whose link is in no other answer.',
      body: {
        email: Type.Optional({ ...EMAIL, description: 'The only address that may use it.' }),
        expires_at: UNTIL,
      },
      answer: createdInviteAnswer,
      codes: ['invalid_email', 'email_taken', 'invalid_expiry'],
      example: { email: 'eve@example.com' },
      async handle({ body: { email, expires_at: text }, actor }) {
        const expiresAt = readFuture(text, clock());
        const { invite, token } = await invites.create({ email, expiresAt }, actor);
        return { ...inviteRecord(invite, clock()), link: links.invite(token) };
      },
    }),
    scopedRoute({
      method: 'POST',
      path: '/invites/:id/revoke',
      name: 'revoke_invite',
      scope: 'invites:write',
      summary: 'Ends an invitation that was not used.',
      answer: inviteAnswer,
      handle: async ({ param, actor }) =>
        inviteRecord(await invites.revoke(param('id'), actor), clock()),
    }),
  ];
}

function operatorRoutes({ signIn }: Dependencies): OperatorRoutes {
  const { operators, links } = signIn;

  async function emailOf(id: string): Promise<string> {
    const user = (await operators.list()).find((each) => each.id === id);
    if (user === undefined) throw notFound('operator');
    return user.email;
  }

  function linkRecord({ email, token }: { email: string; token: string }): OperatorLinkRecord {
    return { object: 'operator_link', email, link: links.welcome(token) };
  }

  return [
    viewRoute({
      path: '/operators',
      handle: async (): Promise<List<OperatorRecord>> =>
        wholeList((await operators.list()).map(operatorRecord)),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/operators',
      permission: 'operators.manage',
      body: { email: EMAIL, role: Type.Optional(oneOf(ROLES)) },
      handle: async ({ body: { email, role = 'viewer' }, actor }) =>
        linkRecord(await operators.invite(email, role, actor)),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/operators/:id/role',
      permission: 'operators.manage',
      body: { role: oneOf(ROLES) },
      async handle({ param, body: { role }, actor, who }): Promise<OperatorRecord> {
        if (param('id') === who.userId) throw ownRole();
        const email = await emailOf(param('id'));
        return operatorRecord(await operators.changeRole(email, role, actor));
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/operators/:id/reset',
      permission: 'operators.manage',
      handle: async ({ param, actor }) =>
        linkRecord(await operators.reset(await emailOf(param('id')), actor)),
    }),
    stepUpRoute<SignedInOperator>({
      method: 'DELETE',
      path: '/operators/:id',
      permission: 'operators.manage',
      async handle({ param, actor, who }) {
        if (param('id') === who.userId) {
          throw new DashboardError(
            'conflict',
            'You cannot remove yourself. Ask another operator, or use the command line.',
          );
        }
        await operators.remove(await emailOf(param('id')), actor);
      },
    }),
  ];
}

function ownRole(): DashboardError {
  return new DashboardError(
    'conflict',
    'You cannot change your own role. Ask another admin, or use the command line.',
  );
}

function lostFactor({ signIn, store }: Dependencies): Route<SignedInOperator> {
  return stepUpRoute({
    method: 'DELETE',
    path: '/accounts/:id/second-factor',
    permission: 'accounts.manage',
    handle: async ({ param, actor }) =>
      signIn.dropSecondFactor((await store.accounts.get(param('id'))).id, actor),
  });
}
