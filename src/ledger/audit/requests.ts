// The audit of requests: a hold, its usage record, its entries and its receipt agree.

import { type SQL, sql } from 'drizzle-orm';
import { formatTokens, type Micro } from '../../core/money.ts';
import type { Database } from '../../store/contract.ts';
import type { HoldPhase } from '../../store/money-tables.ts';
import type { AuditScope, Difference, DifferenceKind } from './difference.ts';
import { ofAccount, type RowRange, rowsInWindows } from './pages.ts';

type Row = {
  readonly requestId: string;
  readonly accountId: string;
  readonly boot: string;
  readonly phase: HoldPhase;
  readonly createdAt: bigint;
  readonly dispatchedAt: bigint | null;
  readonly checkpointAt: bigint | null;
  readonly endedAt: bigint | null;
  /** Null where there is no usage record. */
  readonly charged: Micro | null;
  readonly debited: Micro | null;
  readonly loss: Micro | null;
  readonly recordAccount: string | null;
  /** What the entries say. */
  readonly taken: Micro;
  readonly lost: Micro;
  readonly receipted: bigint;
};

export async function* requestDifferences(
  database: Database,
  scope: AuditScope,
): AsyncGenerator<Difference> {
  const isOrphan = orphanTest(scope);
  const histories = rowsInWindows<Row>(database, 'holds', (window) =>
    storiesOf(window, scope.accountId),
  );
  for await (const row of histories) {
    const { accountId, requestId: subject } = row;
    for (const [kind, detail] of differencesOf(row)) yield { kind, accountId, subject, detail };
    if (!isOrphan(row)) continue;
    const detail = 'its hold is open, and the request is not under way any more';
    yield { kind: 'orphan', accountId, subject, detail };
  }
  const lone = rowsInWindows<Pick<Row, 'requestId' | 'accountId'>>(
    database,
    'usage_records',
    (window) => recordsWithoutHold(window, scope.accountId),
  );
  for await (const { requestId, accountId } of lone) {
    const detail = 'there is a usage record, and there was no hold';
    yield { kind: 'record', accountId, subject: requestId, detail };
  }
}

function storiesOf({ after, to }: RowRange, accountId: string | undefined): SQL {
  // A hold that was dispatched is of a version that writes receipts; of the others, the first record
  // with a receipt tells since when they are written. Rows are in order, whatever the clock did.
  return sql`select h.request_id as "requestId", h.account_id as "accountId", h.boot, h.phase,
          h.created_at as "createdAt", h.dispatched_at as "dispatchedAt",
          h.checkpoint_at as "checkpointAt", h.ended_at as "endedAt",
          u.charged, u.debited, u.loss, u.account_id as "recordAccount",
          coalesce(-s.amount, 0) as taken, coalesce(-l.amount, 0) as lost,
          h.ended_at is null
            or exists (select 1 from receipts r where r.subject = h.request_id)
            or (h.dispatched_at is null and u.rowid is not null and u.rowid < coalesce(
              (select f.rowid from receipts r join usage_records f on f.request_id = r.subject
                order by r.rowid limit 1), u.rowid + 1))
            as receipted
        from holds h
        left join usage_records u on u.request_id = h.request_id
        left join ledger_entries s on s.transfer_id = 'settle:' || h.request_id
          and s.ledger_account = 'customer:' || h.account_id
        left join ledger_entries l on l.transfer_id = 'loss:' || h.request_id
          and l.ledger_account = 'operator:loss'
        where h.rowid > ${after} and h.rowid <= ${to} ${ofAccount(sql`h.account_id`, accountId)}`;
}

function* differencesOf(row: Row): Generator<readonly [DifferenceKind, string]> {
  const { charged, debited, loss, taken, lost, endedAt } = row;
  const contradiction = phaseContradiction(row);
  if (contradiction !== undefined) yield ['phase', contradiction];
  const recorded = row.recordAccount !== null;
  if (recorded && endedAt === null) yield ['record', 'its hold is open, and it has a usage record'];
  if (!recorded && endedAt !== null) yield ['record', 'its hold has ended without a usage record'];
  if (recorded && row.recordAccount !== row.accountId) {
    yield ['record', 'its usage record belongs to another account'];
  }
  if (row.receipted === 0n) yield ['receipt', 'it has ended, and no receipt tells of it'];
  if (charged === null || debited === null || loss === null) return;
  if (debited !== taken) yield ['debited', twoAmounts(taken, debited)];
  if (loss !== lost) yield ['loss', twoAmounts(lost, loss)];
  if (charged !== debited + loss) {
    yield [
      'charged',
      `${formatTokens(debited)} debited and ${formatTokens(loss)} lost are not the ${formatTokens(charged)} charged`,
    ];
  }
}

function twoAmounts(booked: Micro, recorded: Micro): string {
  return `the entries say ${formatTokens(booked)}, the usage record says ${formatTokens(recorded)}`;
}

/** An ended hold has an end, an open one none; one without a first checkpoint has no later one. */
function phaseContradiction(row: Row): string | undefined {
  const { phase, dispatchedAt, checkpointAt, endedAt } = row;
  const open = phase === 'held' || phase === 'dispatched';
  if (open && endedAt !== null) return `it is ${phase}, and it has ended`;
  if (!open && endedAt === null) return `it is ${phase}, and it has not ended`;
  if (phase === 'held' && dispatchedAt !== null) return 'it is held, and it was dispatched';
  if (phase === 'held' && checkpointAt !== null) return 'it is held, and it has a checkpoint';
  if (phase === 'dispatched' && dispatchedAt === null) return 'it is dispatched since never';
  return undefined;
}

/**
 * Whether an open hold is older than `createdBefore` and its request is not under way. Those of other
 * nodes are known to them alone, and those of dead ones are ended by the leader.
 */
function orphanTest({ live }: AuditScope): (row: Row) => boolean {
  if (live === undefined) return () => false;
  const requests = new Set(live.requests);
  return ({ requestId, boot, createdAt, endedAt }) =>
    endedAt === null &&
    (live.boot ?? boot) === boot &&
    Number(createdAt) < live.createdBefore &&
    !requests.has(requestId);
}

function recordsWithoutHold({ after, to }: RowRange, accountId: string | undefined): SQL {
  return sql`select u.request_id as "requestId", u.account_id as "accountId" from usage_records u
        where u.rowid > ${after} and u.rowid <= ${to} ${ofAccount(sql`u.account_id`, accountId)}
        and not exists (select 1 from holds h where h.request_id = u.request_id)`;
}
