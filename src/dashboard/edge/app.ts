// One of the two applications: JSON below `/api`, the files of the pages, and the same HTML page for
// every other path below the prefix, which the browser routes.

import { Elysia } from 'elysia';
import type { SignedIn } from '../../identity/signed-in.ts';
import type { PageFiles } from './files.ts';
import { type GuardDependencies, runRoute } from './guard.ts';
import { finishRefusal, securityHeaders } from './respond.ts';
import type { Route, RouteServer } from './route.ts';

export type AppDependencies<Who extends SignedIn> = GuardDependencies<Who> & {
  readonly prefix: '/dashboard' | '/operator';
  readonly routes: readonly (Route<Who> | Route<undefined>)[];
  readonly files: PageFiles;
};

/** Answers every request below the prefix. */
export type DashboardApp = (request: Request, server: RouteServer | null) => Promise<Response>;

export function createDashboardApp<Who extends SignedIn>(
  dependencies: AppDependencies<Who>,
): DashboardApp {
  const { prefix, routes, files, isHttps } = dependencies;
  const app = new Elysia({ prefix, strictPath: true, handler: { standardHostname: false } });
  /** The framework passes on its own listening server; this one does not listen. */
  const servers = new WeakMap<Request, RouteServer>();
  const methods = new Map<string, string[]>();

  for (const route of routes) {
    const path = `/api${route.path}`;
    methods.set(path, [...(methods.get(path) ?? []), route.method]);
    app.route(
      route.method,
      path,
      ({ request, params }) =>
        runRoute(dependencies, route, request, servers.get(request) ?? null, params),
      { config: {}, parse: 'none' },
    );
  }
  for (const [path, allowed] of methods) {
    app.all(
      path,
      ({ request }) => {
        const response = refuse(request, 405, 'method_not_allowed', WRONG_METHOD);
        response.headers.set('allow', allowed.join(', '));
        return response;
      },
      { parse: 'none' },
    );
  }
  const nothing = ({ request }: { request: Request }) => refuse(request, 404, 'not_found', NOTHING);
  app
    // Routes for all methods must come after those for one: otherwise a GET would return the HTML
    // page below.
    .get('/api/*', nothing)
    .all('/api/*', nothing, { parse: 'none' })
    .get('', ({ request }) => files.page(request, securityHeaders(isHttps(request))))
    .get('/*', ({ request }) => files.serve(request, securityHeaders(isHttps(request))))
    .onError(nothing);

  function refuse(request: Request, status: number, code: string, message: string): Response {
    return finishRefusal({ status, code, message }, '', isHttps(request));
  }

  return async (request, server) => {
    if (server !== null) servers.set(request, server);
    return app.handle(request);
  };
}

const WRONG_METHOD =
  'This path does not support this method. The allow header lists the supported methods.';
const NOTHING = 'Not found. Check the address.';
