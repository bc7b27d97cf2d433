// Sums and digests of the books: two databases with the same facts hold the same money. Compared
// when an installation is moved. Read-only.

import { createHash } from 'node:crypto';
import { type SQL, sql } from 'drizzle-orm';
import { formatTokens } from '../core/money.ts';
import type { Database } from '../store/contract.ts';
import {
  balances,
  movements,
  openHolds,
  redemptionCodes,
  requests,
} from '../store/money-tables.ts';
import { accounts } from '../store/tables.ts';
import { readWideSum, wideSum } from '../store/wide-sum.ts';
import { hashText } from './receipts.ts';

/** Sums and digests, which both sides compare. */
export type LedgerFacts = Readonly<Record<string, string>>;

/** Accounts whose last receipts are read together. */
const ACCOUNTS_AT_ONCE = 1_000;

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
    const [found] = await rows<{ readonly amount: string }>(
      sql`select ${wideSum(amount)} as amount from ${from}`,
    );
    facts[name] = formatTokens(readWideSum(found?.amount ?? 0));
  }

  await count('accounts', sql`${accounts}`);
  await sum('posted', sql`posted`, sql`${balances}`);
  await sum('held', sql`held`, sql`${balances}`);
  await count('open_holds', sql`${openHolds}`);
  await sum('open_holds_amount', sql`amount`, sql`${openHolds}`);
  await count('requests', sql`${requests}`);
  await sum('charged', sql`charged`, sql`${requests}`);
  await sum('lost', sql`loss`, sql`${requests}`);
  await count('movements', sql`${movements}`);
  await sum('movements_amount', sql`amount`, sql`${movements}`);
  await count('codes', sql`${redemptionCodes}`);
  await sum('codes_amount', sql`amount`, sql`${redemptionCodes}`);
  facts['receipt_chains'] = await chainHeads(rows);
  return facts;
}

/** One digest over the last receipt of every account; each of those covers all earlier ones. */
async function chainHeads(rows: Database['rows']): Promise<string> {
  const digest = createHash('sha256');
  let after = '';
  for (;;) {
    const heads = await rows<Head>(
      sql`select account_id as id, sequence, head from ${balances}
        where account_id > ${after} order by account_id limit ${ACCOUNTS_AT_ONCE}`,
    );
    for (const { id, sequence, head } of heads)
      digest.update(`${id} ${sequence} ${hashText(head)}\n`);
    const end = heads.at(-1);
    if (end === undefined) return digest.digest('hex');
    after = end.id;
  }
}

type Head = { readonly id: string; readonly sequence: bigint; readonly head: Uint8Array | null };
