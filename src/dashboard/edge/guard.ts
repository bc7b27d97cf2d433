// The checks before a route, in this order: origin, session, role of the operator or standing of the
// account, a recent password, how often the account changes something, the body, and how often it reads.

import type { Awaitable } from '../../async/awaitable.ts';
import { nextTurn } from '../../async/yield.ts';
import { createRequestId, type RandomBytes } from '../../core/id.ts';
import { PERMISSIONS, type Permission, permits, type Role } from '../../core/role.ts';
import { actorOf, type ReadSession, type SignedIn } from '../../identity/signed-in.ts';
import { PUBLIC_BODY_BYTES_MAX, readJson } from './body.ts';
import { DashboardError, refusalOf } from './error.ts';
import { finish, finishRefusal } from './respond.ts';
import type { Route, RouteServer, RouteStanding } from './route.ts';

export type GuardDependencies<Who extends SignedIn> = {
  readonly session: ReadSession<Who>;
  /** Whether any user could sign in; otherwise all routes return 404. */
  readonly isOpen: () => Promise<boolean>;
  /** The standing of the user's account unless it is active. */
  readonly standing: (who: Who) => Promise<RouteStanding | undefined>;
  readonly address: (request: Request, server: RouteServer | null) => string;
  /** Allowed origins beside the requested host, such as https://example.com. */
  readonly origin: string | undefined;
  readonly isHttps: (request: Request) => boolean;
  /** Whether writes would be lost; absent means never. */
  readonly isReadOnly?: () => boolean;
  /** Counts a change. Throws `too_many_attempts`; absent means without a limit. */
  readonly limitChanges?: (who: Who, route: Route<Who> | Route<undefined>) => void;
  /** Counts a read in the same way. */
  readonly limitReads?: (who: Who) => void;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  /** Called after a possible change, so that the rest of the server applies it at once. */
  readonly onChange: () => Awaitable<void>;
  readonly onInternal: (requestId: string, error: unknown) => void;
};

const CLOSED =
  'There is no operator yet. Create the first one on the server: tollgate operator create.';

const READ_ONLY =
  'Changes are not possible now, because the database file is missing. Contact the operator.';

/** How long a confirmed password allows protected actions. */
export const STEP_UP_MS = 10 * 60_000;

/** Runs a route. Converts every error into a response; never rejects. */
export async function runRoute<Who extends SignedIn>(
  dependencies: GuardDependencies<Who>,
  route: Route<Who> | Route<undefined>,
  request: Request,
  server: RouteServer | null,
  params: Readonly<Record<string, string>>,
): Promise<Response> {
  const requestId = createRequestId(dependencies.clock(), dependencies.randomBytes);
  const isHttps = dependencies.isHttps(request);
  const writes = route.method !== 'GET';
  // A generation has its own limits, and writes no audit event.
  const changes = writes && route.body !== 'unread';
  try {
    if (!(await dependencies.isOpen())) throw new DashboardError('not_found', CLOSED);
    refuseKeys(request.headers);
    if (writes) refuseForeign(request, dependencies.origin);
    if (writes && dependencies.isReadOnly?.()) throw new DashboardError('unavailable', READ_ONLY);
    let who = await admit(dependencies, route, request.headers);
    // Before the body, which takes memory until it has arrived.
    if (changes && who !== undefined) dependencies.limitChanges?.(who, route);
    const address = dependencies.address(request, server);
    const takesJson = route.body !== undefined && route.body !== 'unread';
    const limits = route.access === 'public' ? { bytesMax: PUBLIC_BODY_BYTES_MAX } : {};
    const body = route.readBody(takesJson ? await readJson(request, limits) : {});
    // A slow body can outlast the session, so the session is checked again.
    if (takesJson) who = await admit(dependencies, route, request.headers);
    if (!writes && who !== undefined) dependencies.limitReads?.(who);
    // Starts one of several requests per turn of the event loop, so that streams continue.
    if (!writes) await nextTurn();
    const result = await (route as Route<Who | undefined>).handle({
      who,
      actor: who === undefined ? { name: 'visitor', address } : actorOf(who, address),
      address,
      body,
      query: route.readQuery(Object.fromEntries(searchOf(request))),
      param(name) {
        const value = params[name];
        if (value === undefined || value.includes('\0'))
          throw new DashboardError('not_found', 'Not found. Check the address.');
        return value;
      },
      isAdmitted: () =>
        admit(dependencies, route, request.headers).then(
          () => true,
          () => false,
        ),
      request,
      server,
      requestId,
    });
    if (changes) await dependencies.onChange();
    return finish(result, requestId, isHttps);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal !== undefined) return finishRefusal(refusal, requestId, isHttps);
    dependencies.onInternal(requestId, error);
    const message = `Internal error. Try again. If it persists, send the operator the request id ${requestId}.`;
    return finishRefusal({ status: 500, code: 'internal_error', message }, requestId, isHttps);
  }
}

/** The Host header comes from the client, so the URL may be invalid. */
function searchOf({ url }: Request): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]);
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
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return;
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

async function admit<Who extends SignedIn>(
  { session, standing, clock }: GuardDependencies<Who>,
  route: Route<Who> | Route<undefined>,
  headers: Headers,
): Promise<Who | undefined> {
  if (route.access === 'public') return undefined;
  const who = await session(headers, { quiet: route.quiet });
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
