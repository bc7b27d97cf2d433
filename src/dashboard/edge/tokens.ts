// The door for tokens of the operators' API, which is no way for browsers: a token and nothing else,
// its rate, its scope, and the present role of the operator for whom it acts. Every call within the
// rate is an event of the audit trail.

import { permits, rolesWith } from '../../core/role.ts';
import { auditChange, type Basics } from '../../identity/audit.ts';
import {
  createOperatorTokens,
  scopesOf,
  type TokenCaller,
} from '../../identity/operator-tokens.ts';
import { createThrottle } from '../../identity/sign-in/throttle.ts';
import { actorOf } from '../../identity/signed-in.ts';
import type { CallLimit } from './call-limit.ts';
import { DashboardError } from './error.ts';
import type { Door } from './guard.ts';
import type { Route } from './route.ts';

type TokenDependencies = Basics & {
  /** Counts a call of a token, by its id. */
  readonly limitCalls: CallLimit;
  /** Reports a call that could not be recorded. */
  readonly onInternal: (requestId: string, error: unknown) => void;
};

export function tokenDoor(dependencies: TokenDependencies): Door<TokenCaller> {
  const tokens = createOperatorTokens(dependencies);
  const throttle = createThrottle(dependencies);

  /** Throws `invalid_operator_token`, and `too_many_attempts` after many wrong ones of a network. */
  async function authenticate({ headers }: Request, address: string): Promise<TokenCaller> {
    const caller = await tokens.authenticate(headers.get('authorization'));
    if (caller !== undefined) return caller;
    await throttle.limitNetwork('operator', address, 'token');
    throw new DashboardError(
      'invalid_operator_token',
      'Send a token of the operators’ API as "Authorization: Bearer tgo-…". This one is missing, unknown, revoked or expired.',
    );
  }

  return (request, route, address) => {
    let counted: TokenCaller | undefined;
    return {
      check: async () => undefined,
      async admit() {
        const caller = await authenticate(request, address);
        if (counted === undefined) dependencies.limitCalls(caller.token.id);
        counted = caller;
        requireScope(caller, route);
        return caller;
      },
      async leave({ status, headers }) {
        if (status === 401) headers.set('www-authenticate', 'Bearer');
        if (counted === undefined) return;
        const { id } = counted.token;
        const change = { ...dependencies, actor: actorOf(counted, address) };
        // Paths come from the client: only those of the table are recorded. A change is done and has
        // its own event, so a failure here does not change the answer.
        const detail = { method: request.method, path: route.path, status };
        await dependencies.database
          .quickly(() => auditChange(change, 'operator_api.called', id, detail))
          .catch((error: unknown) => {
            dependencies.onInternal(headers.get('x-request-id') ?? '', error);
          });
      },
    };
  };
}

/** Throws `scope_required`, and `role_not_permitted` where the owner has lost the permission. */
function requireScope(
  { token, owner }: TokenCaller,
  { operation, permission }: Route<TokenCaller> | Route<undefined>,
): void {
  // A path that leads nowhere.
  if (operation === undefined) return;
  const { scope } = operation;
  if (!scopesOf(token).includes(scope)) {
    throw new DashboardError('scope_required', `This token does not have the scope ${scope}.`);
  }
  if (owner === undefined || permission === undefined || permits(owner.role, permission)) return;
  throw new DashboardError(
    'role_not_permitted',
    `This token acts for an operator whose role (${owner.role}) no longer allows this. It needs the role ${rolesWith(permission).join(' or ')}.`,
  );
}
