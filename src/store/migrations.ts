// The migrations that this build knows, oldest first, as text inside the executable: one list a
// database. A test holds the lists against the journals of their folders.

import postgresInitial from '../../drizzle/postgres/0000_initial.sql' with { type: 'text' };
import postgresAppendOnly from '../../drizzle/postgres/0001_append_only.sql' with { type: 'text' };
import postgresNodes from '../../drizzle/postgres/0002_nodes.sql' with { type: 'text' };
import postgresWorstCase from '../../drizzle/postgres/0003_worst_case.sql' with { type: 'text' };
import postgresOwnSignIn from '../../drizzle/postgres/0004_own_sign_in.sql' with { type: 'text' };
import initial from '../../drizzle/sqlite/0000_initial.sql' with { type: 'text' };
import appendOnly from '../../drizzle/sqlite/0001_append_only.sql' with { type: 'text' };
import fewerIndexes from '../../drizzle/sqlite/0002_fewer_indexes.sql' with { type: 'text' };
import reasoning from '../../drizzle/sqlite/0003_reasoning.sql' with { type: 'text' };
import ledger from '../../drizzle/sqlite/0004_ledger.sql' with { type: 'text' };
import guards from '../../drizzle/sqlite/0005_guards.sql' with { type: 'text' };
import operators from '../../drizzle/sqlite/0006_operators.sql' with { type: 'text' };
import dashboardAudit from '../../drizzle/sqlite/0007_dashboard_audit.sql' with { type: 'text' };
import signIn from '../../drizzle/sqlite/0008_sign_in.sql' with { type: 'text' };
import usageSeries from '../../drizzle/sqlite/0009_usage_series.sql' with { type: 'text' };
import auditFilters from '../../drizzle/sqlite/0010_audit_filters.sql' with { type: 'text' };
import usageDays from '../../drizzle/sqlite/0011_usage_days.sql' with { type: 'text' };
import portableMovements from '../../drizzle/sqlite/0012_portable_movements.sql' with {
  type: 'text',
};
import nodes from '../../drizzle/sqlite/0013_nodes.sql' with { type: 'text' };
import worstCase from '../../drizzle/sqlite/0014_worst_case.sql' with { type: 'text' };
import ownSignIn from '../../drizzle/sqlite/0015_own_sign_in.sql' with { type: 'text' };
import type { Dialect } from './contract.ts';

export type Migration = {
  readonly tag: string;
  /** The journal's time in Unix milliseconds: what Drizzle knows a migration by. */
  readonly when: number;
  readonly sql: string;
};

const SQLITE: readonly Migration[] = [
  { tag: '0000_initial', when: 1795247810762, sql: initial },
  { tag: '0001_append_only', when: 1795247927826, sql: appendOnly },
  { tag: '0002_fewer_indexes', when: 1795254102371, sql: fewerIndexes },
  { tag: '0003_reasoning', when: 1795260376224, sql: reasoning },
  { tag: '0004_ledger', when: 1795271297502, sql: ledger },
  { tag: '0005_guards', when: 1795274615177, sql: guards },
  { tag: '0006_operators', when: 1795281999814, sql: operators },
  { tag: '0007_dashboard_audit', when: 1795291592531, sql: dashboardAudit },
  { tag: '0008_sign_in', when: 1795292103415, sql: signIn },
  { tag: '0009_usage_series', when: 1795292200104, sql: usageSeries },
  { tag: '0010_audit_filters', when: 1795292577738, sql: auditFilters },
  { tag: '0011_usage_days', when: 1795296149509, sql: usageDays },
  { tag: '0012_portable_movements', when: 1795304694470, sql: portableMovements },
  { tag: '0013_nodes', when: 1795304949242, sql: nodes },
  { tag: '0014_worst_case', when: 1795357190424, sql: worstCase },
  { tag: '0015_own_sign_in', when: 1795369064472, sql: ownSignIn },
];

const POSTGRES: readonly Migration[] = [
  { tag: '0000_initial', when: 1795304693731, sql: postgresInitial },
  { tag: '0001_append_only', when: 1795304694098, sql: postgresAppendOnly },
  { tag: '0002_nodes', when: 1795304949676, sql: postgresNodes },
  { tag: '0003_worst_case', when: 1795357191080, sql: postgresWorstCase },
  { tag: '0004_own_sign_in', when: 1795369075597, sql: postgresOwnSignIn },
];

export const MIGRATIONS: Readonly<Record<Dialect, readonly Migration[]>> = {
  sqlite: SQLITE,
  postgres: POSTGRES,
};
