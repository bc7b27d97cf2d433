// The operators' API over real domains and a real database, called with real tokens. Every answer is
// checked against the description of the API.

import { randomBytes } from 'node:crypto';
import { SCOPES, type Scope } from '../../../src/core/operator-scope.ts';
import type { Role } from '../../../src/core/role.ts';
import { type CallLimit, createCallLimit } from '../../../src/dashboard/edge/call-limit.ts';
import { API_PREFIX, createOperatorApi } from '../../../src/dashboard/operator-api/app.ts';
import { operatorApiRoutes } from '../../../src/dashboard/operator-api/routes.ts';
import { createOperatorTokens } from '../../../src/identity/operator-tokens.ts';
import { createPeople } from '../../../src/identity/sign-in/people.ts';
import { createOperatorDocument } from '../../../src/openapi/operator/document.ts';
import { newPassword } from '../../support/customer.ts';
import { holderOf } from '../../support/description.ts';
import { ADDRESS, openConsole } from '../operator/console.ts';

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
  const routes = operatorApiRoutes(open.dependencies);
  const document = createOperatorDocument({ version: '1.0.0', routes });
  const held = holderOf(document, API_PREFIX);
  let address = ADDRESS;
  let limitCalls: CallLimit = () => undefined;
  let onInternal = (error: unknown): void => {
    throw error;
  };
  const api = createOperatorApi({
    ...parts,
    routes,
    describe: async () => document,
    address: () => address,
    isHttps: () => false,
    limitCalls: (token) => limitCalls(token),
    onChange: () => undefined,
    onInternal: (_requestId, error) => onInternal(error),
  });

  async function send(path: string, init: RequestInit): Promise<Answer> {
    const request = new Request(`${HOST}${API_PREFIX}${path}`, init);
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
    routes,
    send,
    newToken,
    /** With a token of all scopes and no owner, unless another is given. */
    call: (method: string, path: string, body?: unknown, bearer = token): Promise<Answer> =>
      send(path, {
        method,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
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
