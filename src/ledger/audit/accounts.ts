// Audits accounts: the receipts of each form an unbroken chain, every row matches the facts that
// its receipt hashed, and the balance is their sum. Where months are archived, the chain and the sum
// continue from the last anchor.
//
// A balance names its last receipt, and rows never change. So one read of the balance fixes which
// rows belong to it; they are then read page by page while later ones are written.

import { hash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { add, formatTokens, type Micro, ZERO } from '../../core/money.ts';
import {
  type AccountReceipt,
  movedBy,
  NO_PREVIOUS_RECEIPT,
  receiptBody,
} from '../../core/receipt.ts';
import { type ChainStart, createChainCheck } from '../../core/receipt-chain.ts';
import type { Database } from '../../store/contract.ts';
import { ReceiptReader } from '../booked-receipts.ts';
import { hashText } from '../receipts.ts';
import { anchorDifferences } from './anchors.ts';
import type { AuditScope, Difference } from './difference.ts';
import { accountPages } from './pages.ts';

const RECEIPTS_PAGE = 500;

/** The balance of an account; all null where there is none. */
type Row = {
  readonly accountId: string;
  readonly posted: Micro | null;
  readonly held: Micro;
  readonly open: Micro;
  readonly sequence: bigint;
  readonly head: Uint8Array | null;
  readonly receipted: Micro;
  /** The number of the account's last receipt. */
  readonly last: bigint;
  /** Of the last anchor: all null where nothing is archived. */
  readonly archived: bigint | null;
  readonly anchorHead: Uint8Array | null;
  readonly anchorPosted: Micro | null;
};

export async function* accountDifferences(
  database: Database,
  scope: AuditScope,
): AsyncGenerator<Difference> {
  const receipts = new ReceiptReader(database.db);
  for await (const page of accountPages(database, scope.accountId)) {
    for (const row of await balancesOf(database, page)) {
      const { accountId } = row;
      if (row.posted === null) {
        yield { kind: 'posted', accountId, subject: accountId, detail: 'it has no balance' };
        continue;
      }
      yield* differencesOf(database, receipts, row);
    }
  }
}

/**
 * A month may be archived and removed while its rows are read. So the first difference counts only
 * if the anchor is still the one that the reading began with; otherwise the account is read again.
 */
async function* differencesOf(
  database: Database,
  receipts: ReceiptReader,
  row: Row,
): AsyncGenerator<Difference> {
  let isChecked = false;
  for await (const difference of allOf(database, receipts, row)) {
    if (!isChecked) {
      const [now] = await balancesOf(database, [row.accountId]);
      if (now !== undefined && now.archived !== row.archived) {
        yield* differencesOf(database, receipts, now);
        return;
      }
      isChecked = true;
    }
    yield difference;
  }
}

async function* allOf(
  { db }: Database,
  receipts: ReceiptReader,
  row: Row,
): AsyncGenerator<Difference> {
  if (row.archived !== null) yield* anchorDifferences(db, row.accountId);
  const sum = yield* chainDifferences(receipts, row);
  yield* balanceDifferences(row, sum);
}

function balancesOf(database: Database, accountIds: readonly string[]): Promise<Row[]> {
  const first = accountIds[0] ?? '';
  const last = accountIds.at(-1) ?? '';
  const lastOf = (table: string) =>
    sql`coalesce((select max(t.sequence) from ${sql.identifier(table)} t where t.account = b.number), 0)`;
  return database.rows<Row>(
    sql`select "accountId", posted, held, open, sequence, head, receipted,
          case when newest > coalesce(archived, 0) then newest else coalesce(archived, 0) end as last,
          archived, "anchorHead", "anchorPosted"
        from (select *, case when request > movement then request else movement end as newest
        from (select a.id as "accountId", b.posted, b.held, b.sequence, b.head, b.receipted,
            (select coalesce(sum(h.amount), 0) from open_holds h where h.account = b.number) as open,
            ${lastOf('requests')} as request, ${lastOf('movements')} as movement,
            m.last_sequence as archived, m.head as "anchorHead", m.closing as "anchorPosted"
          from accounts a left join balances b on b.account_id = a.id
            left join archived_months m on m.account = b.number and m.first_sequence =
              (select max(first_sequence) from archived_months where account = b.number)
          where a.id between ${first} and ${last}) as found) as balance order by "accountId"`,
  );
}

function* balanceDifferences(row: Row, sum: Micro): Generator<Difference> {
  const { accountId, posted, held, open } = row;
  if (posted !== sum) {
    const detail = `its entries sum to ${formatTokens(sum)}, and ${formatTokens(posted ?? ZERO)} is posted`;
    yield { kind: 'posted', accountId, subject: accountId, detail };
  }
  if (held !== open) {
    const detail = `its open holds sum to ${formatTokens(open)}, and ${formatTokens(held)} is held`;
    yield { kind: 'held', accountId, subject: accountId, detail };
  }
}

/** Yields the differences of the chain; returns the sum of its requests and movements. */
async function* chainDifferences(
  receipts: ReceiptReader,
  row: Row,
): AsyncGenerator<Difference, Micro> {
  const { accountId } = row;
  const last = Number(row.last);
  const start = startOf(row);
  let written = start?.head ?? NO_PREVIOUS_RECEIPT;
  // Each text contains the hash that the previous row stores; that hash is verified below.
  const check = createChainCheck(() => written, start);
  const wrong = (detail: string): Difference => {
    return { kind: 'chain', accountId, subject: accountId, detail };
  };
  let sum = start?.posted ?? ZERO;
  let after = start?.sequence ?? 0;
  while (after < last) {
    const range = { after, before: last + 1, limit: RECEIPTS_PAGE, order: 'oldest first' } as const;
    const page = await receipts.read(accountId, range);
    for (const { receipt, hash: own } of page) {
      written = own;
      sum = add(sum, movedBy(receipt));
      const text = receiptBody(receipt);
      const problems = check.takeReceipt(receipt, text);
      for (const { kind, sequence, detail } of problems) {
        yield wrong(`receipt ${sequence}: ${kind}. ${detail}`);
      }
      // Without the previous row, the text cannot be reconstructed.
      const isAlone = problems.some(({ kind }) => kind === 'missing' || kind === 'beginning');
      const isAsHashed = hash('sha256', text, 'hex') === own;
      if (isAlone || isAsHashed) continue;
      const detail = 'it says something else than when its receipt was hashed';
      yield { kind: 'receipt', accountId, subject: subjectOf(receipt), detail };
    }
    after = page.at(-1)?.receipt.sequence ?? last;
  }
  yield* endProblems(row, check.totals().closingBalance, written).map(wrong);
  return sum;
}

/** Where the chain of an account with archived months continues. */
function startOf({ accountId, archived, anchorHead, anchorPosted }: Row): ChainStart | undefined {
  if (archived === null || anchorPosted === null) return undefined;
  const head = hashText(anchorHead);
  return { accountId, sequence: Number(archived), head, posted: anchorPosted };
}

/** `closing` is the balance after the last receipt, `head` its hash. */
function* endProblems(row: Row, closing: Micro, head: string): Generator<string> {
  const { sequence, last, posted, receipted } = row;
  const end = `its last receipt leaves ${formatTokens(closing)}, and`;
  if (posted !== closing && last !== 0n) yield `${end} ${formatTokens(posted ?? ZERO)} is posted`;
  if (receipted !== closing) {
    yield `${end} the next one would begin with ${formatTokens(receipted)}`;
  }
  if (sequence !== last) yield `its last receipt is ${last}, and its balance names ${sequence}`;
  if (hashText(row.head) !== head) yield 'its balance names another hash than its last receipt has';
}

function subjectOf(receipt: AccountReceipt): string {
  return receipt.kind === 'request' ? receipt.requestId : receipt.transferId;
}
