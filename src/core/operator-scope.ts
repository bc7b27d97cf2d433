// What a token of the operators' API may do. Each route names the scope that it needs. A token acts
// for an operator and can do no more than the role of that operator permits.

import type { Permission } from './role.ts';

/** Each scope with the permission that its operator needs. */
export const SCOPE_PERMISSIONS = {
  'accounts:read': 'view',
  'accounts:write': 'accounts.manage',
  'accounts:manage': 'accounts.manage',
  'invites:read': 'view',
  'invites:write': 'accounts.manage',
  'keys:read': 'view',
  'keys:write': 'keys.manage',
  'blocks:read': 'view',
  'blocks:write': 'blocks.manage',
  'credits:write': 'money.move',
  'codes:read': 'view',
  'codes:write': 'money.move',
  'money:read': 'view',
  'usage:read': 'view',
  'requests:read': 'view',
  'prices:read': 'view',
  'service:read': 'view',
  'service:write': 'service.manage',
  'alerts:read': 'view',
  'alerts:write': 'alerts.acknowledge',
  'audit:read': 'view',
  'audit:run': 'audit.run',
} as const satisfies Readonly<Record<string, Permission>>;

export type Scope = keyof typeof SCOPE_PERMISSIONS;

export const SCOPES = Object.keys(SCOPE_PERMISSIONS) as readonly Scope[];

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
