// What each role of an operator may do, for every route of the console: through the guard, with
// handlers that only answer.

import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { PERMISSIONS, type Permission, ROLES, type Role } from '../../../src/core/role.ts';
import { type GuardDependencies, runRoute } from '../../../src/dashboard/edge/guard.ts';
import type { Route, RouteCall } from '../../../src/dashboard/edge/route.ts';
import { type SessionDependencies, sessionDoor } from '../../../src/dashboard/edge/sessions.ts';
import { operatorRoutes } from '../../../src/dashboard/operator/routes.ts';
import type { SignedInOperator } from '../../../src/identity/signed-in.ts';
import { anything } from './routes.ts';

const ORIGIN = 'http://console.test';
const NOW = 1_800_000_000_000;

const ROUTES = operatorRoutes(anything).filter(
  (route): route is Route<SignedInOperator> => !['public', 'token'].includes(route.access),
);

const titles = ROUTES.map((route): [string, Route<SignedInOperator>] => [
  `${route.method} ${route.path}`,
  route,
]);

type Guard = GuardDependencies<SignedInOperator> & SessionDependencies<SignedInOperator>;

function guard(role: () => Role, provenAt = NOW): Guard {
  return {
    session: async () => ({
      ...{ realm: 'operator', role: role(), userId: 'user_1', sessionId: 'session_1' },
      ...{ email: 'op@example.com', twoFactor: false, provenAt, expiresAt: NOW },
    }),
    isOpen: async () => true,
    standing: async () => undefined,
    address: () => '203.0.113.7',
    origin: ORIGIN,
    isHttps: () => false,
    clock: () => NOW,
    randomBytes,
    onChange: () => undefined,
    onInternal(_requestId, error) {
      throw error;
    },
  };
}

async function call(
  route: Route<SignedInOperator>,
  dependencies: Guard,
  handle: (call: RouteCall<SignedInOperator, unknown, unknown>) => unknown = () => ({ ran: true }),
) {
  const { method } = route;
  const request = new Request(`${ORIGIN}/operator/api${route.path}`, {
    method,
    headers: { origin: ORIGIN, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: '{}' }),
  });
  const whole = { ...route, handle, readBody: () => ({}), readQuery: () => ({}) };
  const response = await runRoute(
    dependencies,
    sessionDoor(dependencies),
    whole,
    request,
    null,
    {},
  );
  const json = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, code: json.error?.code, message: json.error?.message };
}

describe('each route is open to the roles of its permission alone', () => {
  test.each(titles)('%s', async (_title, route) => {
    const { allows, roles } = PERMISSIONS[route.permission];
    for (const role of ROLES) {
      const answer = await call(
        route,
        guard(() => role),
      );
      expect([role, answer]).toEqual([
        role,
        (roles as readonly Role[]).includes(role)
          ? { status: 200, code: undefined, message: undefined }
          : {
              status: 403,
              code: 'role_not_permitted',
              message: `Your role (${role}) does not allow this. It needs a role that may ${allows}: ${roles.join(' or ')}.`,
            },
      ]);
    }
  });
});

/** They change nothing: a key is found by a body because paths are logged, and a draft is long. */
const READS = ['POST /keys/find', 'POST /catalog/check', 'POST /catalog/entry'];

test('a viewer changes nothing but the own sign-in', () => {
  const open = titles
    .filter(([, { method, permission }]) => method !== 'GET' && mayBe('viewer', permission))
    .map(([title]) => title)
    .filter((title) => !/^\w+ \/auth\//.test(title));
  expect(new Set(open)).toEqual(new Set(READS));
});

test('money is for finance, customers for support, and operators and the service for admins', () => {
  const rolesOf = (start: RegExp) =>
    titles
      .filter(([title, { method }]) => method !== 'GET' && start.test(title))
      .map(([title, { permission }]) => [title, ...PERMISSIONS[permission].roles]);
  const expectAll = (start: RegExp, roles: readonly Role[]) => {
    const found = rolesOf(start);
    expect(found).not.toBeEmpty();
    expect(found).toEqual(found.map(([title = '']) => [title, ...roles]));
  };
  expectAll(/\/(movements|credits|codes)/, ['finance', 'admin']);
  expectAll(/\/(blocks|invites|accounts$|accounts\/:id\/(?!movements|credits))/, [
    'support',
    'admin',
  ]);
  expectAll(/\/(operators|upstreams|maintenance|models|prices\/publish)/, ['admin']);
});

test('a role that may not act is refused before the password is asked for', async () => {
  const stepUp = ROUTES.find(({ access, path }) => access === 'step-up' && path === '/maintenance');
  if (stepUp === undefined) throw new Error('there is no such route');
  const old = NOW - 3_600_000;
  expect(
    (
      await call(
        stepUp,
        guard(() => 'viewer', old),
      )
    ).code,
  ).toBe('role_not_permitted');
  expect(
    (
      await call(
        stepUp,
        guard(() => 'admin', old),
      )
    ).code,
  ).toBe('step_up_required');
});

test('an open answer ends once the role no longer allows it', async () => {
  const route = ROUTES.find(({ permission }) => permission === 'money.move');
  if (route === undefined) throw new Error('there is no such route');
  let role: Role = 'finance';
  let isAdmitted = async (): Promise<boolean> => false;
  await call(
    route,
    guard(() => role),
    (open) => {
      isAdmitted = open.isAdmitted;
      return {};
    },
  );
  expect(await isAdmitted()).toBe(true);
  role = 'support';
  expect(await isAdmitted()).toBe(false);
});

function mayBe(role: Role, permission: Permission): boolean {
  return (PERMISSIONS[permission].roles as readonly Role[]).includes(role);
}
