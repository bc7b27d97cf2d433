// What the books add up to, in words and digits: two databases that say the same hold the same money.
// Called when an installation is moved, on both sides. It only reads.

import { createHash } from 'node:crypto';
import { type SQL, sql } from 'drizzle-orm';
import { formatTokens, micro } from '../core/money.ts';
import type { LedgerFacts } from '../store/archive/format.ts';
import type { Database } from '../store/contract.ts';
import {
  balances,
  holds,
  ledgerEntries,
  receipts,
  redemptionCodes,
  usageRecords,
} from '../store/money-tables.ts';
import { accounts } from '../store/tables.ts';

/** Accounts whose last receipt is looked up together. */
const ACCOUNTS_AT_ONCE = 1_000;

/** Sums are made of two halves, because the sum of many amounts may be more than an integer holds. */
const HALF = 1_000_000_000n;

type Halves = { readonly rows: bigint; readonly high: bigint; readonly low: bigint };

/** Amounts are in service tokens. Call it in a snapshot, or in the transaction that wrote. */
export async function ledgerFacts({ rows }: Pick<Database, 'rows'>): Promise<LedgerFacts> {
  const facts: Record<string, string> = {};

  async function count(name: string, from: SQL): Promise<void> {
    const [found] = await rows<{ readonly rows: bigint }>(
      sql`select count(*) as rows from ${from}`,
    );
    facts[name] = String(found?.rows ?? 0n);
  }

  async function sum(name: string, amount: SQL, from: SQL): Promise<void> {
    const half = sql.raw(String(HALF));
    const [found] = await rows<Halves>(sql`select count(*) as rows,
      cast(coalesce(sum(${amount} / ${half}), 0) as bigint) as high,
      cast(coalesce(sum(${amount} % ${half}), 0) as bigint) as low from ${from}`);
    facts[name] = formatTokens(micro(BigInt(found?.high ?? 0n) * HALF + BigInt(found?.low ?? 0n)));
  }

  const ofCustomers = sql`${ledgerEntries} where ledger_account like 'customer:%'`;
  const open = sql`${holds} where ended_at is null`;
  await count('accounts', sql`${accounts}`);
  await sum('posted', sql`posted`, sql`${balances}`);
  await sum('held', sql`held`, sql`${balances}`);
  await count('holds', sql`${holds}`);
  await count('open_holds', open);
  await sum('open_holds_amount', sql`amount`, open);
  await count('entries', sql`${ledgerEntries}`);
  await sum('entries_of_customers', sql`amount`, ofCustomers);
  await sum('entries_of_all', sql`amount`, sql`${ledgerEntries}`);
  await count('usage_records', sql`${usageRecords}`);
  await sum('charged', sql`charged`, sql`${usageRecords}`);
  await sum('debited', sql`debited`, sql`${usageRecords}`);
  await sum('lost', sql`loss`, sql`${usageRecords}`);
  await count('codes', sql`${redemptionCodes}`);
  await sum('codes_amount', sql`amount`, sql`${redemptionCodes}`);
  await count('receipts', sql`${receipts}`);
  facts['receipt_chains'] = await chainHeads(rows);
  return facts;
}

/** One digest over the last receipt of every account: each names all that came before it. */
async function chainHeads(rows: Database['rows']): Promise<string> {
  const digest = createHash('sha256');
  let after = '';
  for (;;) {
    const heads = await rows<{ readonly id: string; readonly last: bigint; readonly hash: string }>(
      sql`select r.account_id as id, r.sequence as last, r.hash as hash
        from (select account_id, max(sequence) as last from ${receipts}
          where account_id > ${after} group by account_id
          order by account_id limit ${ACCOUNTS_AT_ONCE}) h
        join ${receipts} r on r.account_id = h.account_id and r.sequence = h.last
        order by r.account_id`,
    );
    for (const { id, last, hash } of heads) digest.update(`${id} ${last} ${hash}\n`);
    const end = heads.at(-1);
    if (end === undefined) return digest.digest('hex');
    after = end.id;
  }
}
