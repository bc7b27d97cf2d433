// The route tables of both applications, for tests that visit every route. They are built without
// dependencies: the tests read the descriptions of routes and run no handler.

import type { TObject } from '@sinclair/typebox';
import { customerRoutes } from '../../../src/dashboard/customer/routes.ts';
import type { Method, RouteAccess } from '../../../src/dashboard/edge/route.ts';
import { operatorRoutes } from '../../../src/dashboard/operator/routes.ts';
import type { Gateway } from '../../support/gateway.ts';
import { PREFIXES, type Realm } from '../../support/session.ts';

export type WalkedRoute = {
  readonly realm: Realm;
  readonly method: Method;
  /** As the table has it, such as `/keys/:id`. */
  readonly path: string;
  readonly access: RouteAccess;
  readonly body: TObject | 'unread' | undefined;
  readonly query: TObject | undefined;
  readonly bodyBytesMax: number | undefined;
};

/** Restored after each request. */
export const anything: never = new Proxy(() => anything, {
  get(_target, name) {
    if (name === Symbol.iterator) return function* nothing() {};
    if (name === Symbol.toPrimitive) return () => 'anything';
    return anything;
  },
  apply: () => anything,
}) as never;

export const CUSTOMER_ROUTES: readonly WalkedRoute[] = customerRoutes(anything).map((route) => ({
  ...route,
  realm: 'customer' as const,
}));

/** The rows that sessions may call. */
export const OPERATOR_ROUTES: readonly WalkedRoute[] = operatorRoutes(anything)
  .filter(({ access }) => access !== 'token')
  .map((route) => ({ ...route, realm: 'operator' as const }));

export const ROUTES = [...CUSTOMER_ROUTES, ...OPERATOR_ROUTES];
export const WRITES = ROUTES.filter(({ method }) => method !== 'GET');

/** How a route is called in the name of a test. */
export function titleOf({ realm, method, path }: WalkedRoute): string {
  return `${method} ${PREFIXES[realm]}/api${path}`;
}

/** For `test.each`: every route with its title. */
export function titled(routes: readonly WalkedRoute[]): [string, WalkedRoute][] {
  return routes.map((route) => [titleOf(route), route]);
}

/** The address of a route, with `id` for every part of the path that is one. */
export function addressOf(gateway: Gateway, route: WalkedRoute, id = 'none'): string {
  return `${originOf(gateway, route.realm)}${PREFIXES[route.realm]}/api${pathOf(route, id)}`;
}

export function pathOf({ path }: WalkedRoute, id = 'none'): string {
  return path.replaceAll(/:\w+/g, encodeURIComponent(id));
}

export function originOf(gateway: Gateway, realm: Realm): string {
  return realm === 'customer' ? gateway.url : gateway.operatorUrl();
}
