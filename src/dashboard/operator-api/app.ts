// The operators' API below /operator/api/v1: JSON for programs, with a bearer token instead of a
// session. Checks the token, its scope and the body, and records every call of a valid token.

import type { Awaitable } from '../../async/awaitable.ts';
import { createId, createRequestId, type RandomBytes } from '../../core/id.ts';
import type { Scope } from '../../core/operator-scope.ts';
import { writeAuditEvent } from '../../identity/audit.ts';
import {
  createOperatorTokens,
  type OperatorToken,
  scopesOf,
} from '../../identity/operator-tokens.ts';
import type { Database } from '../../store/contract.ts';
import { readJson } from '../edge/body.ts';
import { DashboardError, refusalOf } from '../edge/error.ts';
import { finish, finishRefusal } from '../edge/respond.ts';
import type { Route, RouteServer } from '../edge/route.ts';

export const API_PREFIX = '/operator/api/v1';

/** Its handler never sees a request without a token that has the scope. */
export type TokenRoute = { readonly scope: Scope; readonly route: Route<undefined> };

type ApiDependencies = {
  readonly database: Database;
  readonly routes: readonly TokenRoute[];
  readonly address: (request: Request, server: RouteServer | null) => string;
  readonly isHttps: (request: Request) => boolean;
  readonly isReadOnly?: () => boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  /** Called after a possible change, so that the rest of the server applies it at once. */
  readonly onChange: () => Awaitable<void>;
  readonly onInternal: (requestId: string, error: unknown) => void;
};

type Found = { readonly api: TokenRoute; readonly params: Readonly<Record<string, string>> };

/** Never rejects. */
export function createOperatorApi(dependencies: ApiDependencies) {
  const { database, routes, address, isHttps, isReadOnly, clock, randomBytes } = dependencies;
  const tokens = createOperatorTokens(dependencies);

  /** Throws `not_found` and `method_not_allowed`. */
  function find(method: string, path: string): Found {
    let isKnown = false;
    for (const api of routes) {
      const params = matched(api.route.path, path);
      if (params === undefined) continue;
      if (api.route.method === method) return { api, params };
      isKnown = true;
    }
    if (isKnown) {
      throw new DashboardError('method_not_allowed', 'This path does not support this method.');
    }
    throw new DashboardError('not_found', 'There is nothing at this path of the operators’ API.');
  }

  async function record(
    token: OperatorToken,
    { route }: TokenRoute,
    from: string,
    status: number,
  ): Promise<void> {
    await database.quickly(() =>
      writeAuditEvent(database, {
        operationId: createId('op_', randomBytes),
        at: clock(),
        actor: { name: nameOf(token), address: from },
        action: 'operator_api.called',
        subject: token.id,
        detail: { method: route.method, path: route.path, status },
      }),
    );
  }

  async function run(
    request: Request,
    server: RouteServer | null,
    token: OperatorToken,
    { api, params }: Found,
    requestId: string,
  ): Promise<unknown> {
    const { scope, route } = api;
    if (!scopesOf(token).includes(scope)) {
      throw new DashboardError('scope_required', `This token does not have the scope ${scope}.`);
    }
    const writes = route.method !== 'GET';
    if (writes && isReadOnly?.()) {
      throw new DashboardError('unavailable', 'Changes are not possible now.');
    }
    const body = route.readBody(route.body === undefined ? {} : await readJson(request));
    const from = address(request, server);
    const query = new URLSearchParams(/\?([^#]*)/.exec(request.url)?.[1]);
    const result = await route.handle({
      who: undefined,
      actor: { name: nameOf(token), address: from },
      address: from,
      body,
      query: route.readQuery(Object.fromEntries(query)),
      param: (name) => params[name] ?? '',
      isAdmitted: async () => true,
      request,
      server,
      requestId,
    });
    if (writes) await dependencies.onChange();
    return result;
  }

  return async (request: Request, server: RouteServer | null): Promise<Response> => {
    const requestId = createRequestId(clock(), randomBytes);
    const secure = isHttps(request);
    try {
      const token = await tokens.authenticate(request.headers.get('authorization'));
      if (token === undefined) {
        throw new DashboardError(
          'invalid_operator_token',
          'Send a token of the operators’ API as "Authorization: Bearer tgo-…". This one is missing, unknown, revoked or expired.',
        );
      }
      const found = find(request.method, pathOf(request).slice(API_PREFIX.length));
      const response = await run(request, server, token, found, requestId).then(
        (result) => finish(result, requestId, secure),
        (error: unknown) => refused(error, requestId, secure),
      );
      await record(token, found.api, address(request, server), response.status);
      return response;
    } catch (error) {
      return refused(error, requestId, secure);
    }
  };

  function refused(error: unknown, requestId: string, secure: boolean): Response {
    const refusal = refusalOf(error);
    if (refusal !== undefined) return finishRefusal(refusal, requestId, secure);
    dependencies.onInternal(requestId, error);
    const message = 'Internal error. Retry, and report the request id if it persists.';
    return finishRefusal({ status: 500, code: 'internal_error', message }, requestId, secure);
  }
}

/** The Host header comes from the client, so the URL may be invalid. */
export function pathOf({ url }: Request): string {
  return /^[a-z]+:\/\/[^/]*([^?#]*)/i.exec(url)?.[1] ?? '';
}

function nameOf({ name }: OperatorToken): string {
  return `token:${name}`;
}

/** The parameters of a path that a pattern such as `/accounts/:id` matches. */
function matched(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
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

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
