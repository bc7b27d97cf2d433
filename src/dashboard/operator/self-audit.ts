// The ledger audit in the console: last run, differences, stopped accounts, and starting a run.

import { isoTime } from '../../core/calendar.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { DashboardError } from '../edge/error.ts';
import { type OperatorRoutes, scopedRoute } from '../edge/route.ts';
import { auditStateAnswer } from '../records/operator-server.ts';

export function selfAuditRoutes({ machine }: MachineDependencies): OperatorRoutes {
  return [
    scopedRoute({
      method: 'GET',
      path: '/self-audit',
      quiet: true,
      name: 'get_ledger_audit',
      scope: 'audit:read',
      summary: 'Returns the last audit of the ledger with its differences.',
      answer: auditStateAnswer,
      handle: () => auditStateRecord(machine.audit.state()),
    }),
    scopedRoute({
      method: 'POST',
      path: '/self-audit/run',
      name: 'run_ledger_audit',
      scope: 'audit:run',
      summary: 'Starts an audit of the ledger.',
      answer: auditStateAnswer,
      codes: ['conflict'],
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
