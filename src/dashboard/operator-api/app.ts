// The operators' API below /operator/api/v1: JSON for programs, with a bearer token instead of a
// session. Checks the token, its rate, its scope and the body, and records every call of a valid
// token within its rate.

import type { Awaitable } from '../../async/awaitable.ts';
import { createRequestId } from '../../core/id.ts';
import { targetOf } from '../../core/request-target.ts';
import { auditChange, type Basics } from '../../identity/audit.ts';
import { createOperatorTokens, type TokenCaller } from '../../identity/operator-tokens.ts';
import { createThrottle } from '../../identity/sign-in/throttle.ts';
import { readJson } from '../edge/body.ts';
import type { CallLimit } from '../edge/call-limit.ts';
import { DashboardError, refusalOf } from '../edge/error.ts';
import { finish, finishRefusal } from '../edge/respond.ts';
import type { RouteServer } from '../edge/route.ts';
import { requireScope, type TokenRoute } from './route.ts';

export const API_PREFIX = '/operator/api/v1';
const DESCRIPTION_PATH = '/openapi.json';

type ApiDependencies = Basics & {
  readonly routes: readonly TokenRoute[];
  /** The description of this API, which needs no token. */
  readonly describe: () => Promise<object>;
  readonly address: (request: Request, server: RouteServer | null) => string;
  readonly isHttps: (request: Request) => boolean;
  readonly isReadOnly?: () => boolean;
  /** Counts a call of a token, by its id. */
  readonly limitCalls: CallLimit;
  /** Called after a possible change, so that the rest of the server applies it at once. */
  readonly onChange: () => Awaitable<void>;
  readonly onInternal: (requestId: string, error: unknown) => void;
};

type Params = Readonly<Record<string, string>>;

/** What the path of a request leads to. */
type Found = {
  readonly api?: TokenRoute;
  readonly params: Params;
  /** The methods of the path; empty for an unknown one. */
  readonly allowed: readonly string[];
};

/** Never rejects. */
export function createOperatorApi(dependencies: ApiDependencies) {
  const { database, routes, address, isHttps, isReadOnly, clock, randomBytes } = dependencies;
  const tokens = createOperatorTokens(dependencies);
  const throttle = createThrottle(dependencies);

  /** Throws `invalid_operator_token`, and `too_many_attempts` after many wrong ones of a network. */
  async function admit(request: Request, from: string): Promise<TokenCaller> {
    const caller = await tokens.authenticate(request.headers.get('authorization'));
    if (caller !== undefined) return caller;
    await throttle.limitNetwork('operator', from, 'token');
    throw new DashboardError(
      'invalid_operator_token',
      'Send a token of the operators’ API as "Authorization: Bearer tgo-…". This one is missing, unknown, revoked or expired.',
    );
  }

  async function run(
    request: Request,
    server: RouteServer | null,
    caller: TokenCaller,
    { api, params, allowed }: Found,
    requestId: string,
  ): Promise<unknown> {
    if (api === undefined) throw allowed.length === 0 ? unknownPath() : wrongMethod(allowed);
    const { scope, route } = api;
    requireScope(caller, scope);
    const writes = route.method !== 'GET';
    if (writes && isReadOnly?.()) {
      throw new DashboardError('unavailable', 'Changes are not possible now.');
    }
    const from = address(request, server);
    let who = caller;
    let given: unknown = {};
    if (route.body !== undefined) {
      requireJson(request);
      given = await readJson(request);
      // A slow body can outlast the token, so the token is checked again.
      who = await admit(request, from);
      requireScope(who, scope);
    }
    const result = await route.handle({
      who,
      actor: actorOf(who, from),
      address: from,
      body: route.readBody(given),
      query: route.readQuery(Object.fromEntries(targetOf(request).searchParams)),
      param: (name) => params[name] ?? '',
      isAdmitted: async () => true,
      request,
      server,
      requestId,
    });
    if (writes) await dependencies.onChange();
    return result;
  }

  function refused(error: unknown, requestId: string, secure: boolean): Response {
    const refusal = refusalOf(error);
    if (refusal !== undefined) {
      const response = finishRefusal(refusal, requestId, secure);
      if (refusal.status === 401) response.headers.set('www-authenticate', 'Bearer');
      return response;
    }
    dependencies.onInternal(requestId, error);
    const message = 'Internal error. Retry, and report the request id if it persists.';
    return finishRefusal({ status: 500, code: 'internal_error', message }, requestId, secure);
  }

  return async (request: Request, server: RouteServer | null): Promise<Response> => {
    const requestId = createRequestId(clock(), randomBytes);
    const secure = isHttps(request);
    const { method } = request;
    const path = targetOf(request).pathname.slice(API_PREFIX.length);
    try {
      if (method === 'GET' && path === DESCRIPTION_PATH) {
        return finish(await dependencies.describe(), requestId, secure);
      }
      const from = address(request, server);
      const caller = await admit(request, from);
      dependencies.limitCalls(caller.token.id);
      const found = find(routes, method, path);
      const response = await run(request, server, caller, found, requestId).then(
        (result) => finish(result, requestId, secure),
        (error: unknown) => refused(error, requestId, secure),
      );
      if (response.status === 405) response.headers.set('allow', found.allowed.join(', '));
      const change = { ...dependencies, actor: actorOf(caller, from) };
      // Paths come from the client: only those of the table are recorded. A change is done and has its
      // own event, so a failure here does not change the answer.
      const known = found.api?.route.path ?? 'unknown';
      const detail = { method, path: known, status: response.status };
      await database
        .quickly(() => auditChange(change, 'operator_api.called', caller.token.id, detail))
        .catch((error: unknown) => dependencies.onInternal(requestId, error));
      return response;
    } catch (error) {
      return refused(error, requestId, secure);
    }
  };
}

function actorOf({ token }: TokenCaller, address: string) {
  return { name: `token:${token.name}`, address };
}

function requireJson({ headers }: Request): void {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return;
  throw new DashboardError(
    'unsupported_media_type',
    'Send the body as JSON, with the content type application/json.',
  );
}

function find(routes: readonly TokenRoute[], method: string, path: string): Found {
  const matches = routes.flatMap((api) => {
    const params = matched(api.route.path, path);
    return params === undefined ? [] : [{ api, params }];
  });
  const allowed = matches.map(({ api }) => api.route.method);
  const match = matches.find(({ api }) => api.route.method === method);
  return { ...(match ?? { params: {} }), allowed };
}

function unknownPath(): DashboardError {
  return new DashboardError('not_found', 'There is nothing at this path of the operators’ API.');
}

function wrongMethod(allowed: readonly string[]): DashboardError {
  return new DashboardError(
    'method_not_allowed',
    `This path does not support this method. It supports ${allowed.join(', ')}.`,
  );
}

/** The parameters of a path that a pattern such as `/accounts/:id` matches. */
function matched(pattern: string, path: string): Params | undefined {
  const parts = pattern.split('/');
  const given = path.split('/');
  if (parts.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith(':') && value !== '') params[part.slice(1)] = decoded(value);
    else if (part !== value) return undefined;
  }
  return params;
}

/** Empty, which is no id, for what no database can hold. */
function decoded(text: string): string {
  try {
    const value = decodeURIComponent(text);
    return value.includes('\0') ? '' : value;
  } catch {
    return '';
  }
}
