// Groups raised alerts by kind and subject until they are stored for the console. Bounded per kind:
// a kind whose subjects strangers can multiply takes no room from others.

import type { AlertGroup } from '../core/activity.ts';
import { type Alert, alertSubject } from '../core/alert.ts';

export type RaisedAlerts = ReturnType<typeof createRaisedAlerts>;

/** More than are raised between two writes, unless the database fails for long. */
const SUBJECTS_MAX = 100;

export function createRaisedAlerts({ clock }: { readonly clock: () => number }) {
  let kinds = new Map<Alert['kind'], Map<string, AlertGroup>>();

  function add(group: AlertGroup): void {
    const { kind } = group.alert;
    const subjects = kinds.getOrInsertComputed(kind, () => new Map());
    const known = subjects.get(group.subject);
    if (known === undefined && subjects.size >= SUBJECTS_MAX) return;
    subjects.set(group.subject, known === undefined ? group : joined(known, group));
  }

  return {
    raise(alert: Alert): void {
      const at = clock();
      add({ alert, subject: alertSubject(alert), count: 1, firstAt: at, lastAt: at });
    },
    isEmpty: (): boolean => kinds.size === 0,
    /** Takes all groups out. */
    take(): readonly AlertGroup[] {
      const taken = [...kinds.values()].flatMap((subjects) => [...subjects.values()]);
      kinds = new Map();
      return taken;
    },
    /** Puts groups back that could not be stored. */
    putBack(groups: readonly AlertGroup[]): void {
      groups.forEach(add);
    },
  };
}

function joined(a: AlertGroup, b: AlertGroup): AlertGroup {
  return {
    ...(a.lastAt > b.lastAt ? a : b),
    count: a.count + b.count,
    firstAt: Math.min(a.firstAt, b.firstAt),
  };
}
