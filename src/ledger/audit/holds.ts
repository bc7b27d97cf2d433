// Audits open holds: each belongs to a running request that has not ended, and its row is
// consistent. The audit of balances sums the amounts.

import { sql } from 'drizzle-orm';
import { requestIdOf } from '../../core/id.ts';
import type { Database } from '../../store/contract.ts';
import type { AuditScope, Difference } from './difference.ts';
import { ofAccount } from './pages.ts';

type Row = {
  readonly id: Uint8Array;
  readonly accountId: string | null;
  readonly incarnation: string | null;
  readonly startedAt: bigint;
  readonly hasEnded: bigint;
  readonly isContradictory: bigint;
};

/** There are only as many as requests are running, so one query reads them all. */
export async function* holdDifferences(
  database: Database,
  scope: AuditScope,
): AsyncGenerator<Difference> {
  const isOrphan = orphanTest(scope);
  const rows = await database.rows<Row>(
    sql`select h.id, b.account_id as "accountId", t.text as incarnation,
          h.started_at as "startedAt",
          exists (select 1 from requests r where r.id = h.id) as "hasEnded",
          case when h.checkpoint_at is null
            then h.upstream is not null or h.output_tokens > 0 or h.reasoning_tokens > 0
            else h.upstream is null or h.model_served is null or h.price_served is null
          end as "isContradictory"
        from open_holds h left join balances b on b.number = h.account
          left join texts t on t.number = h.incarnation
        where 1 = 1 ${ofAccount(sql`b.account_id`, scope.accountId)} order by h.id`,
  );
  for (const row of rows) {
    const { accountId } = row;
    const subject = requestIdOf(row.id);
    for (const detail of contradictions(row)) yield { kind: 'record', accountId, subject, detail };
    if (!isOrphan(row, subject)) continue;
    const detail = 'its hold is open, and the request is no longer running';
    yield { kind: 'orphan', accountId, subject, detail };
  }
}

function* contradictions(row: Row): Generator<string> {
  if (row.accountId === null) yield 'its hold belongs to no account that has a balance';
  if (row.hasEnded === 1n) yield 'its hold is open, and it has ended';
  if (row.isContradictory === 1n) {
    yield 'its hold has progress without a checkpoint, or a checkpoint of no upstream';
  }
}

/**
 * Whether an open hold is older than `createdBefore` and its request is not running. Only other
 * nodes know the requests of their holds; the leader ends those of dead nodes.
 */
function orphanTest({ live }: AuditScope): (row: Row, requestId: string) => boolean {
  if (live === undefined) return () => false;
  const requests = new Set(live.requests);
  return ({ incarnation, startedAt }, requestId) =>
    (live.boot === undefined || live.boot === (incarnation ?? '')) &&
    Number(startedAt) < live.createdBefore &&
    !requests.has(requestId);
}
