// The audit of receipts: the chain of each account is whole, says what the books say, and ends at
// the balance.

import { hash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { formatTokens, type Micro } from '../../core/money.ts';
import type { AccountReceipt } from '../../core/receipt.ts';
import { createChainCheck } from '../../core/receipt-chain.ts';
import type { Database } from '../../store/contract.ts';
import type { AuditScope, Difference } from './difference.ts';
import { accountPages } from './pages.ts';

const RECEIPTS_PAGE = 500;

type Row = {
  readonly sequence: bigint;
  readonly subject: string;
  readonly body: string;
  readonly hash: string;
  readonly posted: Micro | null;
  /** By the usage record, or by the entry of a movement; null where there is none. */
  readonly debited: Micro | null;
  readonly moved: Micro | null;
};

export async function* receiptDifferences(
  database: Database,
  scope: AuditScope,
): AsyncGenerator<Difference> {
  for await (const page of accountPages(database, scope.accountId)) {
    for (const accountId of page) yield* chainDifferences(database, accountId);
  }
}

async function* chainDifferences(
  database: Database,
  accountId: string,
): AsyncGenerator<Difference> {
  const check = createChainCheck((body) => hash('sha256', body, 'hex'));
  const wrong = (detail: string): Difference => {
    return { kind: 'chain', accountId, subject: accountId, detail };
  };
  let last: Row | undefined;
  for (;;) {
    const rows = await receiptsAfter(database, accountId, last?.sequence ?? 0n);
    for (const row of rows) {
      const problems = check.take(row.body);
      for (const { kind, sequence, detail } of problems) {
        yield wrong(`receipt ${sequence}: ${kind}. ${detail}`);
      }
      const receipt = check.last();
      if (problems.length === 0 && receipt !== undefined) {
        const told = contradiction(receipt, row, accountId, check.totals().head);
        if (told !== undefined)
          yield { kind: 'receipt', accountId, subject: row.subject, detail: told };
      }
    }
    last = rows.at(-1) ?? last;
    if (rows.length < RECEIPTS_PAGE) break;
  }
  // The balance was read together with the last receipt: a movement is in both or in neither.
  if (last === undefined || last.posted === check.totals().closingBalance) return;
  const end = formatTokens(check.totals().closingBalance);
  const posted = last.posted === null ? 'nothing' : formatTokens(last.posted);
  yield wrong(`its last receipt leaves ${end}, and ${posted} is posted`);
}

function receiptsAfter(database: Database, accountId: string, after: bigint): Promise<Row[]> {
  return database.rows<Row>(
    sql`select r.sequence, r.subject, r.body, r.hash, b.posted, u.debited, e.amount as moved
        from receipts r
        left join balances b on b.account_id = r.account_id
        left join usage_records u on u.request_id = r.subject
        left join ledger_entries e on e.transfer_id = r.subject
          and e.ledger_account = 'customer:' || r.account_id
        where r.account_id = ${accountId} and r.sequence > ${after}
        order by r.sequence limit ${RECEIPTS_PAGE}`,
  );
}

/** A receipt that is in order by itself may still say something else than the books. */
function contradiction(
  receipt: AccountReceipt,
  row: Row,
  accountId: string,
  head: string,
): string | undefined {
  const subject = receipt.kind === 'request' ? receipt.requestId : receipt.transferId;
  const booked = receipt.kind === 'request' ? row.debited : row.moved;
  const told = receipt.kind === 'request' ? receipt.debited : receipt.amount;
  if (receipt.accountId !== accountId || subject !== row.subject)
    return 'its receipt is of another';
  if (receipt.sequence !== Number(row.sequence)) return 'its receipt has another number';
  if (row.hash !== head) return 'the hash beside its receipt is another';
  if (booked === told) return undefined;
  const found =
    booked === null ? 'the books know nothing of it' : `the books say ${formatTokens(booked)}`;
  return `its receipt says ${formatTokens(told)}, and ${found}`;
}
