// Four eyes: movements and codes above an amount wait for a second operator. An approval is decided
// once. Approving books a movement, by its id, so that two approvals at the same time or a retry
// after a crash book it once; approved codes are created by the operator who asked, who sees them.

import { and, count, eq, gt } from 'drizzle-orm';
import { DAY_MS } from '../core/calendar.ts';
import { createId } from '../core/id.ts';
import { formatTokens, type Micro, micro } from '../core/money.ts';
import { auditChange, type Change } from '../identity/audit.ts';
import { LedgerRefusal } from '../ledger/error.ts';
import { type ApprovalState, approvals } from '../store/console-tables.ts';
import type { Database } from '../store/contract.ts';
import { parseAdjustment, parseAmount, requireReason } from './amounts.ts';
import { type CodesRequest, createNewCodes, type NewCode } from './codes.ts';
import type { OperationDependencies } from './dependencies.ts';
import { OperationError } from './error.ts';
import { type MovementKind, moveMoney, requireId } from './movements.ts';

export type ApprovalRow = typeof approvals.$inferSelect;

type Parts = Pick<
  OperationDependencies,
  'database' | 'ledger' | 'accounts' | 'clock' | 'randomBytes'
>;

/**
 * The operator who acts, or for whom a token acts: the id of the user decides who is a second one.
 */
export type Approver = { readonly userId: string; readonly change: Change };

type MovementAsk = {
  readonly id: string;
  readonly kind: MovementKind;
  readonly accountId: string;
  readonly amount: string;
  readonly reason: string;
};

const LIFETIME_MS = 7 * DAY_MS;
/** A page of requests that no operator decides is of no use. */
const PENDING_MAX = 200;

/** `above` is the setting; absent: no movement needs a second operator. */
export function needsApproval(total: Micro, above: Micro | undefined): boolean {
  return above !== undefined && (total < 0n ? -total : total) > above;
}

/** The total of a movement or of codes as entered. Throws `invalid_amount`. */
export function totalOf(kind: MovementKind, amount: string, times = 1): Micro {
  const one = kind === 'adjustment' ? parseAdjustment(amount) : parseAmount(amount);
  return micro(one * BigInt(times));
}

/**
 * A repeated request with the same id is the same approval. Throws `invalid_credit_id`,
 * `invalid_reason` and others.
 */
export async function askMovement(
  { userId, change }: Approver,
  ask: MovementAsk,
): Promise<ApprovalRow> {
  const { id, kind, accountId, amount } = ask;
  requireId(id);
  const request = { ...ask, reason: requireReason(ask.reason) };
  return insert(change, {
    kind: 'movement',
    accountId,
    key: `movement:${id}`,
    askedBy: userId,
    amount: totalOf(kind, amount),
    request: JSON.stringify(request),
  });
}

/** Whether a movement with this id was asked for; the request may be decided or expired. */
export async function isAsked({ db }: Pick<Database, 'db'>, id: string): Promise<boolean> {
  const own = eq(approvals.key, `movement:${id}`);
  return (await db.select({ id: approvals.id }).from(approvals).where(own).get()) !== undefined;
}

export async function askCodes(
  { userId, change }: Approver,
  ask: CodesRequest,
): Promise<ApprovalRow> {
  const request = { ...ask, reason: requireReason(ask.reason) };
  return insert(change, {
    kind: 'codes',
    accountId: null,
    askedBy: userId,
    key: `codes:${createId('op_', change.randomBytes)}`,
    amount: totalOf('credit', ask.amount, ask.count),
    request: JSON.stringify(request),
  });
}

type Asked = Pick<ApprovalRow, 'kind' | 'accountId' | 'key' | 'amount' | 'request' | 'askedBy'>;

async function insert(change: Change, asked: Asked): Promise<ApprovalRow> {
  const { database, clock, randomBytes } = change;
  return database.transaction(async (tx) => {
    const known = await tx.select().from(approvals).where(eq(approvals.key, asked.key)).get();
    if (known !== undefined) {
      if (known.request === asked.request && known.askedBy === asked.askedBy) return known;
      throw new OperationError(
        'approval_conflict',
        'This id was used for another request. Close the dialog and start over.',
      );
    }
    const now = clock();
    const waiting = and(eq(approvals.state, 'pending'), gt(approvals.expiresAt, now));
    const pending = await tx.select({ rows: count() }).from(approvals).where(waiting).get();
    if ((pending?.rows ?? 0) >= PENDING_MAX) {
      throw new OperationError(
        'too_many_approvals',
        `${PENDING_MAX} requests wait for a second operator. Decide on some of them first.`,
      );
    }
    const id = createId('appr_', randomBytes);
    await tx
      .insert(approvals)
      .values({
        ...asked,
        id,
        askedByName: nameOf(change),
        askedAt: now,
        expiresAt: expiryOf(asked, now),
        state: 'pending',
      })
      .run();
    await audit(change, 'approval.asked', { ...asked, id });
    return find(tx, id);
  });
}

/**
 * Approves, and books a movement. Idempotent: a movement that was approved, but not booked because
 * the ledger did not answer, is booked now. Throws `own_approval`, `approval_decided` and
 * `approval_expired`, and the ledger's errors other than a refusal.
 */
export async function approve(
  parts: Parts,
  { userId, change }: Approver,
  id: string,
): Promise<ApprovalRow> {
  const { database, clock } = change;
  const row = await database.transaction(async (tx) => {
    const found = await find(tx, id);
    if (found.askedBy === userId) throw ownApproval();
    if (['approved', 'done', 'failed'].includes(found.state)) return found;
    requirePending(found, clock());
    await set(tx, id, 'approved', change);
    await audit(change, 'approval.approved', found);
    // Codes can be created from now on for as long.
    const expiresAt = expiryOf(found, clock());
    await tx.update(approvals).set({ expiresAt }).where(eq(approvals.id, id)).run();
    return find(tx, id);
  });
  if (row.kind === 'codes' || row.state !== 'approved') return row;
  return book(parts, change, row);
}

async function book(parts: Parts, change: Change, row: ApprovalRow): Promise<ApprovalRow> {
  const { accountId, ...ask } = JSON.parse(row.request) as MovementAsk;
  const account = await parts.accounts.get(accountId);
  const { database } = change;
  try {
    await moveMoney(parts, { ...ask, account }, change.actor);
  } catch (error) {
    if (!(error instanceof LedgerRefusal)) throw error;
    return database.transaction(async (tx) => {
      const failed = { state: 'failed', note: error.message } as const;
      const open = and(eq(approvals.id, row.id), eq(approvals.state, 'approved'));
      const changed = await tx.update(approvals).set(failed).where(open).returning().all();
      if (changed.length > 0) await audit(change, 'approval.failed', row);
      return find(tx, row.id);
    });
  }
  const open = and(eq(approvals.id, row.id), eq(approvals.state, 'approved'));
  await database.db.update(approvals).set({ state: 'done' }).where(open).run();
  return find(database.db, row.id);
}

/** Rejects, or withdraws one's own request. Throws `approval_decided` and `approval_expired`. */
export async function reject(
  { userId, change }: Approver,
  id: string,
  note: string | undefined,
): Promise<ApprovalRow> {
  return change.database.transaction(async (tx) => {
    const found = await find(tx, id);
    const isOwn = found.askedBy === userId;
    if (found.state === (isOwn ? 'withdrawn' : 'rejected')) return found;
    requirePending(found, change.clock());
    await set(tx, id, isOwn ? 'withdrawn' : 'rejected', change, note);
    await audit(change, isOwn ? 'approval.withdrawn' : 'approval.rejected', found);
    return find(tx, id);
  });
}

/**
 * Creates approved codes, at most once: only the operator who asked sees them. Throws
 * `approval_decided`, `approval_expired` and `own_approval`.
 */
export async function createApprovedCodes(
  parts: Parts,
  { userId, change }: Approver,
  id: string,
): Promise<readonly NewCode[]> {
  const { database, clock, actor } = change;
  const row = await database.transaction(async (tx) => {
    const found = await find(tx, id);
    if (found.kind !== 'codes' || found.state !== 'approved') throw decided();
    if (found.askedBy !== userId) {
      throw new OperationError(
        'own_approval',
        'Only the operator who asked for these codes can create them.',
      );
    }
    if (clock() >= found.expiresAt) throw expired();
    await tx.update(approvals).set({ state: 'done' }).where(eq(approvals.id, id)).run();
    return found;
  });
  return createNewCodes(parts, JSON.parse(row.request) as CodesRequest, actor);
}

/** Codes that have expired cannot be created, so a request ends with the codes that it asks for. */
function expiryOf({ request }: Pick<ApprovalRow, 'request'>, nowMs: number): number {
  const { expiresAt = Infinity } = JSON.parse(request) as Partial<CodesRequest>;
  return Math.min(nowMs + LIFETIME_MS, expiresAt);
}

type Reader = Pick<Database['db'], 'select'>;

async function find(tx: Reader, id: string): Promise<ApprovalRow> {
  const row = await tx.select().from(approvals).where(eq(approvals.id, id)).get();
  if (row !== undefined) return row;
  throw new OperationError('approval_not_found', 'There is no approval with this id.');
}

async function set(
  tx: Pick<Database['db'], 'update'>,
  id: string,
  state: ApprovalState,
  change: Change,
  note?: string,
): Promise<void> {
  const decision = { decidedByName: nameOf(change), decidedAt: change.clock() };
  await tx
    .update(approvals)
    .set({ state, ...decision, ...(note === undefined ? {} : { note }) })
    .where(eq(approvals.id, id))
    .run();
}

function requirePending({ state, expiresAt }: ApprovalRow, nowMs: number): void {
  if (state !== 'pending') throw decided();
  if (nowMs >= expiresAt) throw expired();
}

async function audit(
  change: Change,
  action: `approval.${'asked' | 'approved' | 'failed' | 'rejected' | 'withdrawn'}`,
  row: Pick<ApprovalRow, 'id' | 'kind' | 'accountId' | 'amount' | 'key'>,
): Promise<void> {
  await auditChange(change, action, row.id, {
    kind: row.kind,
    account: row.accountId,
    amount: formatTokens(row.amount),
    of: row.key.replace(/^\w+:/, ''),
  });
}

function nameOf({ actor }: Change): string {
  return typeof actor === 'string' ? actor : actor.name;
}

function ownApproval(): OperationError {
  return new OperationError(
    'own_approval',
    'You, or a token that acts for you, asked for this. Another operator has to approve it.',
  );
}

function decided(): OperationError {
  return new OperationError('approval_decided', 'This request was already decided.');
}

function expired(): OperationError {
  return new OperationError('approval_expired', 'This request has expired. Ask again.');
}
