// The ledger audit in the console: last run, differences, stopped accounts, and starting a run.

import { isoTime } from '../../core/calendar.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { DashboardError } from '../edge/error.ts';
import { type OperatorRoutes, stepUpRoute, viewRoute } from '../edge/route.ts';

export function selfAuditRoutes({ machine }: MachineDependencies): OperatorRoutes {
  return [
    viewRoute({
      path: '/self-audit',
      quiet: true,
      handle: () => auditStateRecord(machine.audit.state()),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/self-audit/run',
      permission: 'audit.run',
      handle() {
        if (!machine.audit.run()) {
          throw new DashboardError('conflict', 'An audit is already running. Wait for its result.');
        }
        return auditStateRecord(machine.audit.state());
      },
    }),
  ];
}

type State = ReturnType<MachineDependencies['machine']['audit']['state']>;

export function auditStateRecord({ running, everyMs, last, differences, stopped }: State) {
  return {
    running,
    every_seconds: Math.round(everyMs / 1_000),
    last:
      last === undefined
        ? null
        : {
            started_at: isoTime(last.startedAt),
            ended_at: isoTime(last.endedAt),
            ok: last.ok,
            differences: last.count,
          },
    differences: differences.map(({ kind, subject, accountId, detail }) => ({
      kind,
      subject,
      account_id: accountId,
      detail,
    })),
    stopped,
  };
}
