// The operators' application, called as its pages call it: through the guard, from its own origin.
// Only the session is a stub: the cookie is the operator's address, who need not be a user. Answers of
// rows with a scope are checked against their schemas.

import { randomBytes } from 'node:crypto';
import { type AppDependencies, createDashboardApp } from '../../../src/dashboard/edge/app.ts';
import { STEP_UP_MS } from '../../../src/dashboard/edge/sessions.ts';
import type { SignedInOperator } from '../../../src/identity/signed-in.ts';
import { createOperatorDocument } from '../../../src/openapi/operator-document.ts';
import { holderOf } from '../../support/description.ts';
import { pageRequest } from '../request.ts';

const ORIGIN = 'http://console.test';

export const OPERATOR = 'ops@example.com';
export const ADDRESS = '203.0.113.7';

export type Answer = {
  readonly status: number;
  readonly json: Record<string, unknown>;
  readonly text: string;
};

export function openOperatorApp({
  routes,
  clock,
  onChange,
  userIdOf = () => 'user_1',
}: Pick<AppDependencies<SignedInOperator>, 'routes' | 'clock' | 'onChange'> & {
  readonly userIdOf?: (email: string) => string;
}) {
  const held = holderOf(createOperatorDocument({ version: '1.0.0', routes }), '/operator/api');
  let provenAt = clock();
  const handle = createDashboardApp<SignedInOperator>({
    session: async (headers) => {
      const email = headers.get('cookie') ?? '';
      if (email === '') return undefined;
      const facts = { realm: 'operator', role: 'admin', email, twoFactor: false } as const;
      const session = { sessionId: 'session_1', provenAt, expiresAt: provenAt };
      return { ...facts, ...session, userId: userIdOf(email) };
    },
    isOpen: async () => true,
    standing: async () => undefined,
    address: () => ADDRESS,
    origin: ORIGIN,
    isHttps: () => false,
    clock,
    randomBytes,
    onChange,
    onInternal: (_requestId, error) => {
      throw error;
    },
    prefix: '/operator',
    routes,
    files: { page: () => new Response(''), serve: () => new Response('') },
  });

  function open(
    method: string,
    path: string,
    body?: unknown,
    { cookie = OPERATOR, signal }: { cookie?: string; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const url = `${ORIGIN}/operator/api${path}`;
    return handle(pageRequest(url, cookie, method, body, signal), null);
  }

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    cookie = OPERATOR,
  ): Promise<Answer> {
    const response = await open(method, path, body, { cookie });
    Object.defineProperty(response, 'url', { value: `${ORIGIN}/operator/api${path}` });
    const text = await (response.status === 200 ? held(response, method) : response).text();
    return { status: response.status, text, json: text === '' ? {} : JSON.parse(text) };
  }

  return {
    open,
    ask,
    post: (path: string, body?: unknown) => ask('POST', path, body),
    /** The status and the code of a refusal. */
    async refusal(method: string, path: string, body?: unknown): Promise<readonly unknown[]> {
      const { status, json } = await ask(method, path, body);
      return [status, (json['error'] as { code?: string } | undefined)?.code];
    },
    /** The password was last proven too long ago. */
    forgetProof: () => {
      provenAt = clock() - STEP_UP_MS;
    },
    proveAgain: () => {
      provenAt = clock();
    },
  };
}
