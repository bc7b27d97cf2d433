// What the role of the signed-in operator allows. The server checks every request; the pages only
// disable what would be refused, and say why.

import type { SessionUserRecord } from '../../dashboard/records/auth.ts';
import { t } from '../text/t.ts';
import { session } from './session.ts';

export type Needed = SessionUserRecord['permissions'][number];

/** Customers have no roles and may do everything that their pages show. */
export function may(permission: Needed | undefined): boolean {
  const user = session.value;
  if (permission === undefined || !user || user.role === null) return true;
  return user.permissions.includes(permission);
}

/** Why the role does not allow it; `undefined` if it does. */
export function whyNot(permission: Needed | undefined): string | undefined {
  if (may(permission)) return undefined;
  return t('Your role ({role}) does not allow this. Ask an admin.', {
    role: session.value?.role ?? '',
  });
}
