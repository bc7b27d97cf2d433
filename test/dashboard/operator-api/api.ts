// The console's rows over real domains and a real database, called with real tokens. Every answer is
// checked against the description of the API.

import { randomBytes } from 'node:crypto';
import { SCOPES, type Scope } from '../../../src/core/operator-scope.ts';
import type { Role } from '../../../src/core/role.ts';
import { createDashboardApp, TOKEN_PREFIX } from '../../../src/dashboard/edge/app.ts';
import { type CallLimit, createCallLimit } from '../../../src/dashboard/edge/call-limit.ts';
import { type ConsoleRoutes, scopedRoutes } from '../../../src/dashboard/edge/route.ts';
import { tokenDoor } from '../../../src/dashboard/edge/tokens.ts';
import { operatorRoutes } from '../../../src/dashboard/operator/routes.ts';
import { createOperatorTokens } from '../../../src/identity/operator-tokens.ts';
import { createPeople } from '../../../src/identity/sign-in/people.ts';
import type { SignedInOperator } from '../../../src/identity/signed-in.ts';
import { createOperatorDocument } from '../../../src/openapi/operator-document.ts';
import { newPassword } from '../../support/customer.ts';
import { holderOf } from '../../support/description.ts';
import { ADDRESS, openConsole } from '../operator/console.ts';
import { anything } from '../security/routes.ts';

const HOST = 'http://console.test';
const DAY_MS = 86_400_000;

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Record<string, unknown>;
  readonly text: string;
};

/** Everything is closed by `close`. */
export async function openOperatorApi(directory: string) {
  const open = await openConsole(directory);
  const { database, clock } = open.identity;
  const parts = { database, clock, randomBytes };
  const tokens = createOperatorTokens(parts);
  const people = createPeople(parts);
  const document = createOperatorDocument({ version: '1.0.0', routes: open.routes });
  const held = holderOf(document, TOKEN_PREFIX);
  let address = ADDRESS;
  let limitCalls: CallLimit = () => undefined;
  let onInternal = (error: unknown): void => {
    throw error;
  };
  const serve = (routes: ConsoleRoutes) =>
    createDashboardApp<SignedInOperator>({
      ...{ clock, randomBytes, routes, prefix: '/operator', origin: HOST },
      session: async () => undefined,
      isOpen: async () => true,
      standing: async () => undefined,
      address: () => address,
      isHttps: () => false,
      onChange: () => undefined,
      onInternal: (_requestId, error) => onInternal(error),
      files: { page: () => new Response(''), serve: () => new Response('') },
      tokens: {
        door: tokenDoor({
          ...parts,
          limitCalls: (token) => limitCalls(token),
          onInternal: (_requestId, error) => onInternal(error),
        }),
        describe: async () => document,
      },
    });
  const api = serve(open.routes);
  /** All rows of the console, with handlers that only say which row it is. */
  const rows = operatorRoutes(anything).map((route) => ({
    ...route,
    handle: () => ({ ran: route.operation?.name ?? 'a row for sessions alone' }),
  }));
  const table = serve(rows);

  async function send(path: string, init: RequestInit): Promise<Answer> {
    const request = new Request(`${HOST}${TOKEN_PREFIX}${path}`, init);
    const response = await api(request, null);
    Object.defineProperty(response, 'url', { value: request.url });
    const checked = held(response, request.method);
    const text = await checked.text();
    const { status, headers } = checked;
    return { status, headers, text, json: text === '' ? {} : JSON.parse(text) };
  }

  const newToken = async (
    scopes: readonly Scope[] = SCOPES,
    owner?: string,
    lifetimeMs = DAY_MS,
  ) => {
    const name = `billing-${crypto.randomUUID()}`;
    const facts = { name, scopes, owner, expiresAt: clock() + lifetimeMs };
    const { token, row } = await tokens.create(facts, 'operator');
    return { token, name, id: row.id };
  };
  const { token } = await newToken();

  return {
    ...open,
    database,
    tokens,
    people,
    rows,
    scoped: scopedRoutes(rows),
    send,
    newToken,
    /** With a token of all scopes and no owner, unless another is given. */
    call: (method: string, path: string, body?: unknown, bearer = token): Promise<Answer> =>
      send(path, {
        method,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    /** The row of the whole console that a token runs, or the code of its refusal. */
    async outcome(method: string, path: string, bearer: string): Promise<unknown> {
      const request = new Request(`${HOST}${TOKEN_PREFIX}${path.replaceAll(/:\w+/g, 'none')}`, {
        method,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        ...(method === 'GET' ? {} : { body: '{"x":1}' }),
      });
      const response = await table(request, null);
      const json = (await response.json()) as { error?: { code?: string }; ran?: string };
      return json.error?.code ?? json.ran;
    },
    async operator(email: string, role: Role) {
      const user = await people.operators.create(email, role, newPassword(), 'operator');
      open.userIds.set(email, user.id);
      return user;
    },
    /** For later calls. */
    limit(most: number): void {
      limitCalls = createCallLimit({ monotonic: clock, most, per: 'minute', what: 'calls' });
    },
    /** Later internal errors are passed on, and no longer thrown. */
    catchInternal(take: (error: unknown) => void): void {
      onInternal = take;
    },
    comeFrom(other: string): void {
      address = other;
    },
  };
}

export const codeOf = ({ json }: Answer): unknown =>
  (json['error'] as { readonly code?: string } | undefined)?.code;

export const outcomeOf = (answer: Answer): readonly unknown[] => [answer.status, codeOf(answer)];
