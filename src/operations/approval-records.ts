// Requests for a second operator as the console lists them, and the removal of old ones.

import { and, desc, eq, inArray, lt } from 'drizzle-orm';
import { DAY_MS, isoTime } from '../core/calendar.ts';
import { formatTokens } from '../core/money.ts';
import { approvals } from '../store/console-tables.ts';
import type { Database } from '../store/contract.ts';
import { users } from '../store/sign-in-tables.ts';
import { sweepTable } from '../store/sweep.ts';
import { accounts } from '../store/tables.ts';
import type { ApprovalRow } from './approvals.ts';
import type { MovementKind } from './movements.ts';

/** With the addresses of the account and of the operator who asked, also by a token. */
type ListedApproval = {
  readonly approval: ApprovalRow;
  readonly email: string | null;
  readonly askedByEmail: string | null;
};

const KEPT_MS = 90 * DAY_MS;

/** At most `limit`, newest first; only those below the number `before` where it is given. */
export async function listApprovals(
  { db }: Pick<Database, 'db'>,
  { limit, before }: { limit: number; before: number | undefined },
): Promise<readonly ListedApproval[]> {
  return db
    .select({ approval: approvals, email: accounts.email, askedByEmail: users.email })
    .from(approvals)
    .leftJoin(accounts, eq(accounts.id, approvals.accountId))
    .leftJoin(users, eq(users.id, approvals.askedBy))
    .where(before === undefined ? undefined : lt(approvals.number, before))
    .orderBy(desc(approvals.number))
    .limit(limit)
    .all();
}

/** The audit trail keeps what is removed here. */
export async function sweepApprovals(database: Database, nowMs: number): Promise<void> {
  const over = and(
    lt(approvals.expiresAt, nowMs - KEPT_MS),
    inArray(approvals.state, ['pending', 'done', 'failed', 'rejected', 'withdrawn']),
  );
  await sweepTable(database, approvals, over);
}

/** The addresses are in lists alone. */
export function approvalRecord(
  row: ApprovalRow,
  nowMs: number,
  { email, askedByEmail }: Omit<ListedApproval, 'approval'> = { email: null, askedByEmail: null },
) {
  const isOver = nowMs >= row.expiresAt;
  const canExpire = row.state === 'pending' || (row.state === 'approved' && row.kind === 'codes');
  const ask = JSON.parse(row.request) as { reason: string; kind?: MovementKind; count?: number };
  return {
    id: row.id,
    object: 'approval',
    kind: ask.kind ?? 'codes',
    account_id: row.accountId,
    account_email: email,
    amount: formatTokens(row.amount),
    count: ask.count ?? null,
    reason: ask.reason,
    state: canExpire && isOver ? 'expired' : row.state,
    /** The actor: a token of the operators' API acts for an operator. */
    asked_by: row.askedByName,
    asked_by_email: askedByEmail,
    asked_at: isoTime(row.askedAt),
    expires_at: isoTime(row.expiresAt),
    decided_by: row.decidedByName,
    decided_at: row.decidedAt === null ? null : isoTime(row.decidedAt),
    note: row.note,
  } as const;
}
