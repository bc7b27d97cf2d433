// The operators' application. The cookie of a request is the operator's address, who need not be a
// user. Answers of rows with a scope are checked against their schemas.

import type { AppDependencies } from '../../../src/dashboard/edge/app.ts';
import { STEP_UP_MS } from '../../../src/dashboard/edge/sessions.ts';
import type { SignedInOperator } from '../../../src/identity/signed-in.ts';
import { createOperatorDocument } from '../../../src/openapi/operator-document.ts';
import { holderOf } from '../../support/description.ts';
import { openApp } from '../app.ts';

export const OPERATOR = 'ops@example.com';

export function openOperatorApp({
  userIdOf = () => 'user_1',
  ...given
}: Pick<AppDependencies<SignedInOperator>, 'routes' | 'clock' | 'onChange'> & {
  readonly userIdOf?: (email: string) => string;
}) {
  const { clock, routes } = given;
  const held = holderOf(createOperatorDocument({ version: '1.0.0', routes }), '/operator/api');
  let provenAt = clock();
  const app = openApp<SignedInOperator>({
    session: async (headers) => {
      const email = headers.get('cookie') ?? '';
      if (email === '') return undefined;
      const facts = { realm: 'operator', role: 'admin', email, twoFactor: false } as const;
      const session = { sessionId: 'session_1', provenAt, expiresAt: provenAt };
      return { ...facts, ...session, userId: userIdOf(email) };
    },
    prefix: '/operator',
    held,
    ...given,
  });

  function open(
    method: string,
    path: string,
    body?: unknown,
    { cookie = OPERATOR, signal }: { cookie?: string; signal?: AbortSignal } = {},
  ): Promise<Response> {
    return app.open(cookie, method, path, body, signal === undefined ? {} : { signal });
  }

  const ask = (method: string, path: string, body?: unknown, cookie = OPERATOR) =>
    app.ask(cookie, method, path, body);

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
