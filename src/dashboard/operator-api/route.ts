// A route of the operators' API: its name, the scope that it needs, and who may call it.

import type { TProperties } from '@sinclair/typebox';
import { SCOPE_PERMISSIONS, type Scope } from '../../core/operator-scope.ts';
import { PERMISSIONS, permits } from '../../core/role.ts';
import { scopesOf, type TokenCaller } from '../../identity/operator-tokens.ts';
import { DashboardError } from '../edge/error.ts';
import { type Definition, type Empty, type Route, tokenRoute } from '../edge/route.ts';

/** As the description of the API names its operations. */
export type OperationName =
  | 'list_accounts'
  | 'create_account'
  | 'get_account'
  | 'list_keys'
  | 'create_key'
  | 'edit_key'
  | 'pause_key'
  | 'resume_key'
  | 'revoke_key'
  | 'create_credit'
  | 'get_usage'
  | 'get_prices';

/** Its handler never sees a request without a token that has the scope. */
export type TokenRoute = {
  readonly name: OperationName;
  readonly scope: Scope;
  readonly route: Route<TokenCaller>;
};

export function needs<Body extends TProperties = Empty, Query extends TProperties = Empty>(
  scope: Scope,
  name: OperationName,
  definition: Definition<TokenCaller, Body, Query>,
): TokenRoute {
  return { name, scope, route: tokenRoute<TokenCaller, Body, Query>(definition) };
}

/** Throws `scope_required`, and `role_not_permitted` where the owner has lost the permission. */
export function requireScope({ token, owner }: TokenCaller, scope: Scope): void {
  if (!scopesOf(token).includes(scope)) {
    throw new DashboardError('scope_required', `This token does not have the scope ${scope}.`);
  }
  const permission = SCOPE_PERMISSIONS[scope];
  if (owner === undefined || permits(owner.role, permission)) return;
  const { roles } = PERMISSIONS[permission];
  throw new DashboardError(
    'role_not_permitted',
    `This token acts for an operator whose role (${owner.role}) no longer allows this. It needs the role ${roles.join(' or ')}.`,
  );
}
