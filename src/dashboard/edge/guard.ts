// The checks before a route, in this order: origin, who calls and whether they may, how often the
// account changes something, the body, and how often it reads. Who calls is up to the door of the
// mount: a session of a user, or a token.

import type { Awaitable } from '../../async/awaitable.ts';
import { nextTurn } from '../../async/yield.ts';
import { createRequestId, type RandomBytes } from '../../core/id.ts';
import type { TokenCaller } from '../../identity/operator-tokens.ts';
import { actorOf, type SignedIn } from '../../identity/signed-in.ts';
import { isJson, PUBLIC_BODY_BYTES_MAX, readJson } from './body.ts';
import { DashboardError, refusalOf } from './error.ts';
import { finish, finishRefusal } from './respond.ts';
import type { Route, RouteServer } from './route.ts';

/** Of one request at a door. */
type Admission<Who> = {
  /** Rejects what is no request for this door. */
  readonly check: () => Promise<void>;
  /** The caller, if it may call the route. Called again after a body, which may arrive late. */
  readonly admit: () => Promise<Who>;
  /** Sees each response before it is sent, and never rejects. */
  readonly leave: (response: Response) => Promise<void>;
};

/** How callers prove who they are. */
export type Door<Who> = (
  request: Request,
  route: Route<Who> | Route<undefined>,
  address: string,
) => Admission<Who>;

export type GuardDependencies<Who> = {
  readonly address: (request: Request, server: RouteServer | null) => string;
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

const READ_ONLY =
  'Changes are not possible now, because the database file is missing. Contact the operator.';

/** Runs a route. Converts every error into a response; never rejects. */
export async function runRoute<Who extends SignedIn | TokenCaller>(
  dependencies: GuardDependencies<Who>,
  door: Door<Who>,
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
  const address = dependencies.address(request, server);
  const admission = door(request, route, address);
  const admit = async () => (route.access === 'public' ? undefined : admission.admit());

  async function run(): Promise<Response> {
    await admission.check();
    if (writes && dependencies.isReadOnly?.()) throw new DashboardError('unavailable', READ_ONLY);
    let who = await admit();
    // Before the body, which takes memory until it has arrived.
    if (changes && who !== undefined) dependencies.limitChanges?.(who, route);
    const takesJson = route.body !== undefined && route.body !== 'unread';
    if (takesJson) requireJson(request);
    const bytesMax = route.access === 'public' ? PUBLIC_BODY_BYTES_MAX : route.bodyBytesMax;
    const limits = bytesMax === undefined ? {} : { bytesMax };
    const body = route.readBody(takesJson ? await readJson(request, limits) : {});
    // A slow body can outlast the session, so the session is checked again.
    if (takesJson) who = await admit();
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
        // The framework makes null of an id that it cannot decode.
        if (typeof value !== 'string' || value.includes('\0'))
          throw new DashboardError('not_found', 'Not found. Check the address.');
        return value;
      },
      isAdmitted: () =>
        admit().then(
          () => true,
          () => false,
        ),
      request,
      server,
      requestId,
    });
    if (changes) await dependencies.onChange();
    return finish(result, requestId, isHttps);
  }

  function refused(error: unknown): Response {
    const refusal = refusalOf(error);
    if (refusal !== undefined) return finishRefusal(refusal, requestId, isHttps);
    dependencies.onInternal(requestId, error);
    const message = `Internal error. Try again. If it persists, send the operator the request id ${requestId}.`;
    return finishRefusal({ status: 500, code: 'internal_error', message }, requestId, isHttps);
  }

  const response = await run().catch(refused);
  await admission.leave(response);
  return response;
}

/** The Host header comes from the client, so the URL may be invalid. */
function searchOf({ url }: Request): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]);
}

/** An absent body is an empty object of any type. */
function requireJson({ body, headers }: Request): void {
  if (body === null || isJson(headers)) return;
  throw new DashboardError(
    'unsupported_media_type',
    'Send the body as JSON, with the content type application/json.',
  );
}
