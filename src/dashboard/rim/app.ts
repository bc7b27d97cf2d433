// One of the two applications as the server mounts it: the JSON below `/api`, the files of the pages,
// and one page for every other path below the prefix, which the browser then tells apart.

import { Elysia } from 'elysia';
import type { SignedIn } from '../../identity/session.ts';
import type { PageFiles } from './files.ts';
import { type GuardDependencies, runRoute } from './guard.ts';
import { finishRefusal, securityHeaders } from './respond.ts';
import type { Route, RouteServer } from './route.ts';

export type AppDependencies<Who extends SignedIn> = GuardDependencies<Who> & {
  readonly prefix: '/dashboard' | '/operator';
  readonly routes: readonly (Route<Who> | Route<undefined>)[];
  readonly files: PageFiles;
};

export function createDashboardApp<Who extends SignedIn>(dependencies: AppDependencies<Who>) {
  const { prefix, routes, files, isHttps } = dependencies;
  const app = new Elysia({ prefix, strictPath: true, handler: { standardHostname: false } });
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    const path = `/api${route.path}`;
    methods.set(path, [...(methods.get(path) ?? []), route.method]);
    app.route(
      route.method,
      path,
      ({ request, server, params }) =>
        runRoute(dependencies, route, request, server as RouteServer | null, params),
      { config: {}, parse: 'none' },
    );
  }
  for (const [path, allowed] of methods) {
    app.all(
      path,
      ({ request }) => refuse(request, 405, 'method_not_allowed', WRONG_METHOD, allowed),
      {
        parse: 'none',
      },
    );
  }

  function refuse(
    request: Request,
    status: number,
    code: string,
    message: string,
    allowed?: readonly string[],
  ): Response {
    const response = finishRefusal({ status, code, message }, '', isHttps(request));
    if (allowed !== undefined) response.headers.set('allow', allowed.join(', '));
    return response;
  }

  return app
    .all('/api/*', ({ request }) => refuse(request, 404, 'not_found', 'There is nothing here.'), {
      parse: 'none',
    })
    .get('', ({ request }) => files.page(request, securityHeaders(isHttps(request))))
    .get('/*', ({ request }) => files.serve(request, securityHeaders(isHttps(request))));
}

const WRONG_METHOD = 'This path does not take this method. See the header allow.';
