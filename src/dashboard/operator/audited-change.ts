// What operations that change something get from a request of the console: its database, and who acts.

import type { Actor } from '../../identity/audit.ts';
import type { Change } from '../../operations/audited-change.ts';
import type { MachineDependencies } from '../dependencies.ts';

export function changeOf(
  { store, clock, randomBytes }: Pick<MachineDependencies, 'store' | 'clock' | 'randomBytes'>,
  actor: Actor,
): Change {
  return { database: store.database, clock, randomBytes, actor };
}
