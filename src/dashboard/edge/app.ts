// One of the two applications: JSON below `/api` for sessions and, in the console, below `/api/v1` for
// tokens, the files of the pages, and the same HTML page for every other path below the prefix, which
// the browser routes.

import { Elysia } from 'elysia';
import type { TokenCaller } from '../../identity/operator-tokens.ts';
import type { SignedIn } from '../../identity/signed-in.ts';
import type { PageFiles } from './files.ts';
import { type Door, type GuardDependencies, runRoute } from './guard.ts';
import { finishRefusal, securityHeaders } from './respond.ts';
import { publicRoute, type Route, type RouteServer, scopedRoutes, unknownRoute } from './route.ts';
import { type SessionDependencies, sessionDoor } from './sessions.ts';

export type AppDependencies<Who extends SignedIn> = GuardDependencies<Who> &
  SessionDependencies<Who> & {
    readonly prefix: '/dashboard' | '/operator';
    readonly routes: readonly (Route<Who> | Route<undefined>)[];
    readonly files: PageFiles;
    /** Opens the rows with a scope to tokens; absent: there are none. */
    readonly tokens?: {
      readonly door: Door<TokenCaller>;
      /** The description of these routes, which needs no token. */
      readonly describe: () => Promise<object>;
    };
  };

/** Where tokens call the console. */
export const TOKEN_PREFIX = '/operator/api/v1';

/** Answers every request below the prefix. */
export type DashboardApp = (request: Request, server: RouteServer | null) => Promise<Response>;

type Exchange = {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
};

type Handler = (exchange: Exchange) => Response | Promise<Response>;

type Refuse = (request: Request, requestId: string) => Response;

export function createDashboardApp<Who extends SignedIn>(
  dependencies: AppDependencies<Who>,
): DashboardApp {
  const { prefix, routes, files, isHttps, tokens } = dependencies;
  const app = new Elysia({ prefix, strictPath: true, handler: { standardHostname: false } });
  /** The framework passes on its own listening server; this one does not listen. */
  const servers = new WeakMap<Request, RouteServer>();
  const serverOf = (request: Request): RouteServer | null => servers.get(request) ?? null;

  if (tokens !== undefined) {
    const { door, describe } = tokens;
    // Sessions alone have limits for changes and reads.
    const { limitChanges: _changes, limitReads: _reads, ...guard } = dependencies;
    const run =
      (route: Route<TokenCaller> | Route<undefined>): Handler =>
      ({ request, params }) =>
        runRoute<TokenCaller>(guard, door, route, request, serverOf(request), params);
    const description = publicRoute({ method: 'GET', path: '/openapi.json', handle: describe });
    // Without a token, all paths get the same refusal.
    mount('/api/v1', [...scopedRoutes(routes), description], run, (refuse) =>
      run(unknownRoute(({ request, requestId }) => refuse(request, requestId))),
    );
  }
  const door = sessionDoor(dependencies);
  mount(
    '/api',
    routes.filter(({ access }) => access !== 'token'),
    (route): Handler =>
      ({ request, params }) =>
        runRoute(dependencies, door, route, request, serverOf(request), params),
    (refuse) =>
      ({ request }) =>
        refuse(request, ''),
  );
  app
    .get('', ({ request }) => files.page(request, securityHeaders(isHttps(request))))
    .get('/*', ({ request }) => files.serve(request, securityHeaders(isHttps(request))))
    .onError(({ request }) => refusal(404, 'not_found', NOTHING)(request, ''));

  /** Mounts routes below a path, and refuses other methods and paths there. */
  function mount<Mounted extends Pick<Route<undefined>, 'method' | 'path'>>(
    base: string,
    mounted: readonly Mounted[],
    run: (route: Mounted) => Handler,
    refused: (refuse: Refuse) => Handler,
  ): void {
    const methods = new Map<string, string[]>();
    for (const route of mounted) {
      const path = `${base}${route.path}`;
      methods.set(path, [...(methods.get(path) ?? []), route.method]);
      app.route(route.method, path, run(route), { config: {}, parse: 'none' });
    }
    for (const [path, allowed] of methods) {
      const refuse = refusal(405, 'method_not_allowed', WRONG_METHOD);
      const handler = refused((request, requestId) => {
        const response = refuse(request, requestId);
        response.headers.set('allow', allowed.join(', '));
        return response;
      });
      app.all(path, handler, { parse: 'none' });
    }
    const nothing = refused(refusal(404, 'not_found', NOTHING));
    // Routes for all methods must come after those for one: otherwise a GET would return the HTML
    // page.
    app.get(`${base}/*`, nothing).all(`${base}/*`, nothing, { parse: 'none' });
  }

  function refusal(status: number, code: string, message: string): Refuse {
    return (request, requestId) =>
      finishRefusal({ status, code, message }, requestId, isHttps(request));
  }

  return async (request, server) => {
    if (server !== null) servers.set(request, server);
    return app.handle(request);
  };
}

const WRONG_METHOD =
  'This path does not support this method. The allow header lists the supported methods.';
const NOTHING = 'Not found. Check the address.';
