// What a route of the dashboard's JSON is: data. The edge mounts it, and the tests walk over all of
// them: every route knows who may call it, what its body and its query may hold, and what it does.

import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import type { Actor } from '../../identity/audit.ts';
import type { SignedIn } from '../../identity/signed-in.ts';
import { DashboardError } from './error.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/**
 * public    nobody need be signed in
 * session   whoever is signed in
 * step-up   whoever has proven the password within the last minutes
 */
export type RouteAccess = 'public' | 'session' | 'step-up';

/** The runtime's server, as far as routes use it. */
export type RouteServer = { readonly timeout: (request: Request, seconds: number) => void };

/** One request of a route. */
export type RouteCall<Who, Body = undefined, Query = undefined> = {
  readonly who: Who;
  /** Who acts, and from where, for the audit trail. */
  readonly actor: Actor;
  /** The network address of the client. */
  readonly address: string;
  readonly body: Body;
  readonly query: Query;
  /** A part of the path. */
  readonly param: (name: string) => string;
  /** Whether this request would still be let in now: for answers that stay open. */
  readonly isAdmitted: () => Promise<boolean>;
  readonly request: Request;
  readonly server: RouteServer | null;
  readonly requestId: string;
};

/** Answers JSON (200), nothing (204 for `undefined`), or a response of its own. */
type Handle<Who, Body, Query> = (call: RouteCall<Who, Body, Query>) => unknown;

export type Route<Who> = {
  readonly method: Method;
  /** Below the API's prefix, such as `/keys/:id/rotate`. */
  readonly path: string;
  readonly access: RouteAccess;
  /** Which standings of an account it is open to beside active ones; customers alone. */
  readonly standings: readonly RouteStanding[];
  readonly readBody: (value: unknown) => unknown;
  readonly readQuery: (values: Readonly<Record<string, string>>) => unknown;
  /** What its body may hold; `unread` where the handler reads it itself, whatever it is. */
  readonly body: TObject | 'unread' | undefined;
  readonly query: TObject | undefined;
  /** A page asks it on its own: that somebody has is no sign that anybody is there. */
  readonly quiet: boolean;
  readonly handle: Handle<Who, unknown, unknown>;
};

export type RouteStanding = 'suspended' | 'pending_deletion' | 'blocked';

type Definition<Who, Body extends TProperties, Query extends TProperties> = {
  readonly method: Method;
  readonly path: string;
  readonly standings?: readonly RouteStanding[];
  readonly quiet?: boolean;
  /** Members of the body; others are refused. A route without it takes no body. */
  readonly body?: Body | 'unread';
  /** Members of the query, all of them text; others are refused. */
  readonly query?: Query;
  readonly handle: Handle<Who, Static<TObject<Body>>, Static<TObject<Query>>>;
};

type Empty = Record<never, never>;

/** A member that has to be one of these texts. */
export const oneOf = <const Text extends string>(texts: readonly Text[]) =>
  Type.Union(texts.map((text) => Type.Literal(text)));

/** A route for whoever is signed in. */
export function sessionRoute<
  Who extends SignedIn,
  Body extends TProperties = Empty,
  Query extends TProperties = Empty,
>(definition: Definition<Who, Body, Query>): Route<Who> {
  return build('session', definition);
}

/** A route for what must not be done by whoever finds a browser open. */
export function stepUpRoute<
  Who extends SignedIn,
  Body extends TProperties = Empty,
  Query extends TProperties = Empty,
>(definition: Definition<Who, Body, Query>): Route<Who> {
  return build('step-up', definition);
}

/** A route for everybody. */
export function publicRoute<Body extends TProperties = Empty, Query extends TProperties = Empty>(
  definition: Definition<undefined, Body, Query>,
): Route<undefined> {
  return build('public', definition);
}

function build<Who, Body extends TProperties, Query extends TProperties>(
  access: RouteAccess,
  definition: Definition<Who, Body, Query>,
): Route<Who> {
  const body = definition.body === 'unread' ? 'unread' : strict(definition.body);
  const query = strict(definition.query);
  return {
    method: definition.method,
    path: definition.path,
    access,
    standings: definition.standings ?? [],
    quiet: definition.quiet ?? false,
    readBody: reader(body === 'unread' ? undefined : body, 'body'),
    readQuery: reader(query, 'query'),
    body,
    query,
    // The readers above are what makes these types true.
    handle: definition.handle as Handle<Who, unknown, unknown>,
  };
}

function strict(properties: TProperties | undefined): TObject | undefined {
  return properties === undefined
    ? undefined
    : Type.Object(properties, { additionalProperties: false });
}

/** Checks a value against a schema; throws `invalid_request` that names the first wrong member. */
function reader(schema: TSchema | undefined, what: 'body' | 'query'): (value: unknown) => unknown {
  let compiled: TypeCheck<TSchema> | undefined;
  return (value) => {
    compiled ??= TypeCompiler.Compile(schema ?? Type.Object({}, { additionalProperties: false }));
    if (compiled.Check(value)) return value;
    const first = compiled.Errors(value).First();
    const path = first === undefined ? '' : first.path.slice(1).replaceAll('/', '.');
    // A member that is not ours may have any name, and no answer repeats what somebody made up.
    const param = /^[a-z0-9_.]{1,60}$/.test(path) ? path : '';
    throw new DashboardError(
      'invalid_request',
      param === ''
        ? `The ${what} is not valid.`
        : `The field ${param} of the ${what} is not valid.`,
      param === '' ? {} : { param },
    );
  };
}
