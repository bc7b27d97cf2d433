// What stands between a browser and a route: where the request comes from, who is signed in, whether
// this may be asked of this account now, and what the body holds. In this order, for every route.

import type { Awaitable } from '../../async/awaitable.ts';
import { nextTurn } from '../../async/yield.ts';
import { createRequestId, type RandomBytes } from '../../core/id.ts';
import { actorOf, type ReadSession, type SignedIn } from '../../identity/signed-in.ts';
import { readJson } from './body.ts';
import { DashboardError, refusalOf } from './error.ts';
import { finish, finishRefusal } from './respond.ts';
import type { Route, RouteServer, RouteStanding } from './route.ts';

export type GuardDependencies<Who extends SignedIn> = {
  readonly session: ReadSession<Who>;
  /** Whether there is anybody who could sign in; else all of it is as if it were not there. */
  readonly isOpen: () => Promise<boolean>;
  /** The standing of who is signed in, where it is not an active one. */
  readonly standing: (who: Who) => Promise<RouteStanding | undefined>;
  readonly address: (request: Request, server: RouteServer | null) => string;
  /** Where pages of ours come from, beside the host that was asked; such as https://example.com. */
  readonly origin: string | undefined;
  readonly isHttps: (request: Request) => boolean;
  /** Whether what is written now would be lost; absent: never. */
  readonly isReadOnly?: () => boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  /** Something may have been changed: the rest of the server is to take it up at once. */
  readonly onChange: () => Awaitable<void>;
  readonly onInternal: (requestId: string, error: unknown) => void;
};

const CLOSED =
  'There is no operator yet. Make the first one on the machine itself: tollgate operator create.';

const READ_ONLY =
  'Nothing can be changed at the moment, because the database is not in its place. Ask the operator.';

/** For how long a proof of the password opens what needs one. */
export const STEP_UP_MS = 10 * 60_000;

/** Runs a route. Whatever is thrown becomes an answer; this never rejects. */
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
  try {
    if (!(await dependencies.isOpen())) throw new DashboardError('not_found', CLOSED);
    refuseKeys(request.headers);
    if (writes) refuseForeign(request, dependencies.origin);
    if (writes && dependencies.isReadOnly?.()) throw new DashboardError('unavailable', READ_ONLY);
    let who = await admit(dependencies, route, request.headers);
    const address = dependencies.address(request, server);
    const takesJson = route.body !== undefined && route.body !== 'unread';
    const body = route.readBody(takesJson ? await readJson(request) : {});
    // A body may come as slowly as its sender likes, and whoever was let in may be out meanwhile.
    if (takesJson) who = await admit(dependencies, route, request.headers);
    // Of many that come at once, one begins in each turn of the event loop: streams go on meanwhile.
    if (!writes) await nextTurn();
    const result = await (route as Route<Who | undefined>).handle({
      who,
      actor: who === undefined ? { name: 'visitor', address } : actorOf(who, address),
      address,
      body,
      query: route.readQuery(Object.fromEntries(searchOf(request))),
      param(name) {
        const value = params[name];
        if (value === undefined) throw new DashboardError('not_found', 'There is nothing here.');
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
    if (writes) await dependencies.onChange();
    return finish(result, requestId, isHttps);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal !== undefined) return finishRefusal(refusal, requestId, isHttps);
    dependencies.onInternal(requestId, error);
    const message = `Something went wrong here, and it is not your doing. Try again; if it stays, tell the operator the request id ${requestId}.`;
    return finishRefusal({ status: 500, code: 'internal_error', message }, requestId, isHttps);
  }
}

/** Whatever the host is that the client made up: a URL with it may be none. */
function searchOf({ url }: Request): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]);
}

/** Specification, authentication, rule 4. A key of an agent that went astray must open nothing. */
function refuseKeys(headers: Headers): void {
  const bearer = /^bearer\s/i.test(headers.get('authorization') ?? '');
  if (!bearer && headers.get('x-api-key') === null) return;
  throw new DashboardError(
    'session_required',
    'This is for people who are signed in to the dashboard. An API key cannot be used here.',
  );
}

/** A page of somebody else's must not write in the name of who is signed in here. */
function refuseForeign(request: Request, ours: string | undefined): void {
  const origin = request.headers.get('origin');
  const isOurs =
    origin === null
      ? request.headers.get('sec-fetch-site') === 'same-origin'
      : origin === ours || isFromHost(origin, request.headers.get('host'), ours);
  if (!isOurs) {
    throw new DashboardError(
      'cross_origin',
      'This was not asked from a page of this server. Open the dashboard itself and try again.',
    );
  }
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return;
  throw new DashboardError(
    'unsupported_media_type',
    'Requests that change something need the content type application/json.',
  );
}

/** Not the plain HTTP of our own name, where others may speak in it: that one has to be `ours`. */
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
    throw new DashboardError('not_signed_in', 'Nobody is signed in, or not any more. Sign in.');
  }
  const held = await standing(who);
  if (held !== undefined && !route.standings.includes(held)) throw refusedStanding(held);
  if (route.access === 'step-up' && clock() - who.provenAt >= STEP_UP_MS) {
    throw new DashboardError('step_up_required', 'Enter your password again to do this.');
  }
  return who;
}

function refusedStanding(standing: RouteStanding): DashboardError {
  if (standing === 'blocked') {
    return new DashboardError('account_blocked', 'This account is blocked. Ask the operator.');
  }
  return new DashboardError(
    'account_inactive',
    standing === 'suspended'
      ? 'This account is suspended. Ask the operator.'
      : 'This account is going to be deleted, so nothing of it can be changed. Take the deletion back first.',
  );
}
