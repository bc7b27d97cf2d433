// The door for sessions: requests of our own pages, whose users have signed in, have the role or the
// standing that the route needs, and for some routes a recently confirmed password.

import { PERMISSIONS, type Permission, permits, type Role } from '../../core/role.ts';
import type { ReadSession, SignedIn } from '../../identity/signed-in.ts';
import { isJson } from './body.ts';
import { DashboardError } from './error.ts';
import type { Door } from './guard.ts';
import type { RouteStanding } from './route.ts';

export type SessionDependencies<Who extends SignedIn> = {
  readonly session: ReadSession<Who>;
  /** Whether any user could sign in; otherwise all routes return 404. */
  readonly isOpen: () => Promise<boolean>;
  /** The standing of the user's account unless it is active. */
  readonly standing: (who: Who) => Promise<RouteStanding | undefined>;
  /** Allowed origins beside the requested host, such as https://example.com. */
  readonly origin: string | undefined;
  /** Unix milliseconds. */
  readonly clock: () => number;
};

const CLOSED =
  'There is no operator yet. Create the first one on the server: tollgate operator create.';

/** How long a confirmed password allows protected actions. */
export const STEP_UP_MS = 10 * 60_000;

export function sessionDoor<Who extends SignedIn>(
  dependencies: SessionDependencies<Who>,
): Door<Who> {
  const { session, isOpen, standing, origin, clock } = dependencies;
  return (request, route) => ({
    async check() {
      if (!(await isOpen())) throw new DashboardError('not_found', CLOSED);
      refuseKeys(request.headers);
      if (route.method !== 'GET') refuseForeign(request, origin);
    },
    async admit() {
      const who = await session(request.headers, { quiet: route.quiet });
      if (who === undefined) {
        throw new DashboardError('not_signed_in', 'Your session has expired. Sign in again.');
      }
      if (who.realm === 'operator') refuseRole(who.role, route.permission);
      const held = await standing(who);
      if (held !== undefined && !route.standings.includes(held)) throw refusedStanding(held);
      if (route.access === 'step-up' && clock() - who.provenAt >= STEP_UP_MS) {
        throw new DashboardError('step_up_required', 'Enter your password again to do this.');
      }
      return who;
    },
    leave: async () => undefined,
  });
}

/** Rejects API keys, so that an agent with a key cannot change the account. */
function refuseKeys(headers: Headers): void {
  const bearer = /^bearer\s/i.test(headers.get('authorization') ?? '');
  if (!bearer && headers.get('x-api-key') === null) return;
  throw new DashboardError(
    'session_required',
    'API keys are not accepted here. Sign in to the dashboard.',
  );
}

/** A foreign page must not write with the user's session. */
function refuseForeign(request: Request, ours: string | undefined): void {
  const origin = request.headers.get('origin');
  const isOurs =
    origin === null
      ? request.headers.get('sec-fetch-site') === 'same-origin'
      : origin === ours || isFromHost(origin, request.headers.get('host'), ours);
  if (!isOurs) {
    throw new DashboardError(
      'cross_origin',
      'This request came from another site. Open the dashboard and try again.',
    );
  }
  if (isJson(request.headers)) return;
  throw new DashboardError(
    'unsupported_media_type',
    'Requests that change data need the content type application/json.',
  );
}

/**
 * Plain HTTP of the same host is not trusted, because an attacker may serve it: it must be in
 * `ours`.
 */
function isFromHost(origin: string, host: string | null, ours: string | undefined): boolean {
  if (ours !== undefined && URL.parse(ours)?.host === host) return false;
  return URL.parse(origin)?.host === host;
}

/** Before the password is asked for, which would change nothing. */
function refuseRole(role: Role, permission: Permission | undefined): void {
  if (permission !== undefined && permits(role, permission)) return;
  const { allows, roles } = PERMISSIONS[permission ?? 'operators.manage'];
  throw new DashboardError(
    'role_not_permitted',
    `Your role (${role}) does not allow this. It needs a role that may ${allows}: ${roles.join(' or ')}.`,
  );
}

function refusedStanding(standing: RouteStanding): DashboardError {
  if (standing === 'blocked') {
    return new DashboardError('account_blocked', 'This account is blocked. Contact the operator.');
  }
  return new DashboardError(
    'account_inactive',
    standing === 'suspended'
      ? 'This account is suspended. Contact the operator.'
      : 'This account will be deleted and cannot be changed. Cancel the deletion first.',
  );
}
