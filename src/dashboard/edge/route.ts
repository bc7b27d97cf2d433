// A route of the dashboard's JSON API as data. The edge mounts it, and tests iterate over all
// routes. Each declares its access, its body and query, and its handler. A row of the console with a
// scope is a route of the operators' API, too, and also has its description.

import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import type { Awaitable } from '../../async/awaitable.ts';
import { SCOPE_PERMISSIONS, type Scope } from '../../core/operator-scope.ts';
import type { Permission } from '../../core/role.ts';
import type { Actor } from '../../identity/audit.ts';
import type {
  OperatorCaller,
  SignedIn,
  SignedInCustomer,
  SignedInOperator,
} from '../../identity/signed-in.ts';
import { invalidRequest } from './error.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/**
 * public    no session needed
 * token     a token of the operators' API and no session
 * session   any signed-in user
 * step-up   a signed-in user with a recently confirmed password
 */
export type RouteAccess = 'public' | 'token' | 'session' | 'step-up';

/** The part of the runtime's server that routes use. */
export type RouteServer = { readonly timeout: (request: Request, seconds: number) => void };

/** One request of a route. */
export type RouteCall<Who, Body = undefined, Query = undefined> = {
  readonly who: Who;
  /** The actor and its origin, for the audit trail. */
  readonly actor: Actor;
  /** The network address of the client. */
  readonly address: string;
  readonly body: Body;
  readonly query: Query;
  /** A path parameter. */
  readonly param: (name: string) => string;
  /** Whether the session is still valid: for responses that stay open. */
  readonly isAdmitted: () => Promise<boolean>;
  readonly request: Request;
  readonly server: RouteServer | null;
  readonly requestId: string;
};

/** Returns JSON (200), nothing (204 for `undefined`), or its own response. */
type Handle<Who, Body, Query> = (call: RouteCall<Who, Body, Query>) => unknown;

export type Route<Who, Needed = RoutePermission<Who>> = {
  readonly method: Method;
  /** Below the API's prefix, such as `/keys/:id/rotate`. */
  readonly path: string;
  readonly access: RouteAccess;
  readonly permission: Needed;
  /** Account standings beside active that may call it; customers only. */
  readonly standings: readonly RouteStanding[];
  readonly readBody: (value: unknown) => unknown;
  readonly readQuery: (values: Readonly<Record<string, string>>) => unknown;
  /** The body; `unread` if the handler reads it itself. */
  readonly body: TObject | 'unread' | undefined;
  readonly query: TObject | undefined;
  /** Polled by pages: not a sign of user activity. */
  readonly quiet: boolean;
  /** Absent: not open to tokens. */
  readonly operation: Operation | undefined;
  /** Absent for the limit of most routes. */
  readonly bodyBytesMax: number | undefined;
  readonly handle: Handle<Who, unknown, unknown>;
};

/** What a route is in the operators' API. Fields of bodies and queries describe themselves. */
export type Operation = {
  /** Its name in the description, such as `list_accounts`. */
  readonly name: string;
  readonly scope: Scope;
  /** Whole sentences. */
  readonly summary: string;
  readonly answer: TSchema;
  /** Errors beside those that every route and every path of its collection has. */
  readonly codes?: readonly string[];
  /** A body. */
  readonly example?: object;
};

export type CustomerRoutes = readonly Route<SignedInCustomer>[];

export type OperatorRoutes = readonly Route<SignedInOperator>[];

/** All rows of the console. */
export type ConsoleRoutes = readonly (Route<SignedInOperator> | Route<undefined>)[];

/**
 * What the role of an operator must permit: a route of the console without one does not compile.
 * Customers have no roles.
 */
type RoutePermission<Who> = [Who] extends [OperatorCaller] ? Permission : Permission | undefined;

export type RouteStanding = 'suspended' | 'pending_deletion' | 'blocked';

type Fields<Body extends TProperties, Query extends TProperties> = {
  readonly method: Method;
  readonly path: string;
  readonly quiet?: boolean;
  readonly bodyBytesMax?: number;
  /** Body fields; others are rejected. A route without it takes no body. */
  readonly body?: Body | 'unread';
  /** Query fields, all text; others are rejected. */
  readonly query?: Query;
};

export type Definition<Who, Body extends TProperties, Query extends TProperties> = Fields<
  Body,
  Query
> & {
  readonly standings?: readonly RouteStanding[];
  readonly handle: Handle<Who, Static<TObject<Body>>, Static<TObject<Query>>>;
} & (undefined extends RoutePermission<Who>
    ? { readonly permission?: Permission }
    : { readonly permission: Permission });

export type Empty = Record<never, never>;

/** A field with a fixed set of values. */
export const oneOf = <const Text extends string>(texts: readonly Text[], description?: string) =>
  Type.Union(
    texts.map((text) => Type.Literal(text)),
    description === undefined ? {} : { description },
  );

/** Makes the routes of one access, for some of its callers. */
const routesOf =
  <Callers>(access: RouteAccess) =>
  <Who extends Callers, Body extends TProperties = Empty, Query extends TProperties = Empty>(
    definition: Definition<Who, Body, Query>,
  ): Route<Who> => {
    const body = definition.body === 'unread' ? 'unread' : strict(definition.body);
    const query = strict(definition.query);
    return {
      method: definition.method,
      path: definition.path,
      access,
      permission: definition.permission as RoutePermission<Who>,
      standings: definition.standings ?? [],
      quiet: definition.quiet ?? false,
      operation: undefined,
      bodyBytesMax: definition.bodyBytesMax,
      readBody: reader(body === 'unread' ? undefined : body, 'body'),
      readQuery: reader(query, 'query'),
      body,
      query,
      // The readers above guarantee these types.
      handle: definition.handle as Handle<Who, unknown, unknown>,
    };
  };

/** A route for signed-in users. */
export const sessionRoute = routesOf<SignedIn>('session');

/** A route of the console that only reads, and that every role may read. */
export function viewRoute<Query extends TProperties = Empty>(
  definition: Omit<
    Definition<SignedInOperator, Empty, Query>,
    'method' | 'permission' | 'standings' | 'body'
  >,
): Route<SignedInOperator> {
  return sessionRoute({ ...definition, method: 'GET', permission: 'view' });
}

/** A route for actions that need a recently confirmed password. */
export const stepUpRoute = routesOf<SignedIn>('step-up');

/** A public route. */
export const publicRoute: <Body extends TProperties = Empty, Query extends TProperties = Empty>(
  definition: Definition<undefined, Body, Query>,
) => Route<undefined> = routesOf<undefined>('public');

/**
 * A row of the console that tokens with its scope may call, too, in place of a session with the
 * permission of that scope.
 */
export function scopedRoute<
  Answer extends TSchema,
  Body extends TProperties = Empty,
  Query extends TProperties = Empty,
>(
  definition: Fields<Body, Query> &
    Operation & {
      /** By default a write needs a recently confirmed password. */
      readonly access?: 'token' | 'session' | 'step-up';
      readonly answer: Answer;
      readonly handle: (
        call: RouteCall<OperatorCaller, Static<TObject<Body>>, Static<TObject<Query>>>,
      ) => Awaitable<Static<Answer>>;
    },
): ScopedRoute {
  const { method, scope, access = method === 'GET' ? 'session' : 'step-up' } = definition;
  const permission = SCOPE_PERMISSIONS[scope];
  const row = routesOf<OperatorCaller>(access)({ ...definition, permission });
  return { ...row, operation: definition };
}

type ScopedRoute = Route<OperatorCaller> & { readonly operation: Operation };

/** The rows that tokens may call. */
export function scopedRoutes(
  routes: readonly Route<never, Permission | undefined>[],
): readonly ScopedRoute[] {
  return routes.filter((route): route is ScopedRoute => route.operation !== undefined);
}

/** What a token finds at other paths and methods. It is recorded as `unknown`. */
export function unknownRoute(handle: Handle<OperatorCaller, unknown, unknown>) {
  const route = routesOf<OperatorCaller>('token')<OperatorCaller>({
    method: 'GET',
    path: 'unknown',
    permission: 'view',
    handle,
  });
  return { ...route, readQuery: () => ({}) };
}

function strict(properties: TProperties | undefined): TObject | undefined {
  return properties === undefined
    ? undefined
    : Type.Object(properties, { additionalProperties: false });
}

/** Validates a value; throws `invalid_request` with the first invalid field. */
function reader(schema: TSchema | undefined, what: 'body' | 'query'): (value: unknown) => unknown {
  let compiled: TypeCheck<TSchema> | undefined;
  return (value) => {
    compiled ??= TypeCompiler.Compile(schema ?? Type.Object({}, { additionalProperties: false }));
    if (compiled.Check(value)) {
      if (!isUnstorable(value)) return value;
      throw invalidRequest(`The ${what} contains a null character or half of a surrogate pair.`);
    }
    const first = compiled.Errors(value).First();
    const path = first === undefined ? '' : first.path.slice(1).replaceAll('/', '.');
    // Unknown field names come from the client and are never echoed.
    if (!/^[a-z0-9_.]{1,60}$/.test(path)) throw invalidRequest(`The ${what} is not valid.`);
    throw invalidRequest(`The field ${path} of the ${what} is not valid.`, path);
  };
}

/** Hashed and never stored: a wrong one is wrong credentials, with any characters. */
const PASSWORDS: ReadonlySet<string> = new Set(['password', 'current']);

/**
 * PostgreSQL cannot store U+0000, and SQLite cuts some results there. A lone surrogate is stored as
 * U+FFFD, so a repeat of a credit would differ from what was booked.
 */
function isUnstorable(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, member]) => !PASSWORDS.has(name) && isUnstorable(member),
  );
}
