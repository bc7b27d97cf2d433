// The audit's walk over the entries: legs that sum to zero, and movements that are told of elsewhere
// too. On the way it adds up what each customer has.

import { sql } from 'drizzle-orm';
import { add, formatTokens, type Micro, negate, ZERO } from '../../core/money.ts';
import type { Database } from '../../store/contract.ts';
import type { EntryKind } from '../../store/money-tables.ts';
import type { AuditScope, Difference } from './difference.ts';
import { ofAccount, one, windowsOf } from './pages.ts';

/** What the entries up to `lastId` add up to, by account: all of them are committed. */
export type EntrySums = { readonly byAccount: Map<string, Micro>; lastId: bigint };

export function createEntrySums(): EntrySums {
  return { byAccount: new Map(), lastId: 0n };
}

type Row = {
  readonly id: bigint;
  readonly transferId: string;
  readonly ledgerAccount: string;
  readonly amount: Micro;
  readonly kind: EntryKind;
  readonly total: Micro;
  /** Whether the usage record, or the code, that this entry is about is there. */
  readonly known: bigint;
  readonly receipted: bigint;
};

/** Fills `sums` up to the last entry there was at the start. */
export async function* entryDifferences(
  database: Database,
  { accountId }: AuditScope,
  sums: EntrySums,
): AsyncGenerator<Difference> {
  const unbalanced = new Set<string>();
  const ofCustomer = ofAccount(sql`e.ledger_account`, accountId && `customer:${accountId}`);
  for await (const { after, to } of windowsOf(database, 'ledger_entries')) {
    const rows = await database.rows<Row>(
      sql`select e.id, e.transfer_id as "transferId", e.ledger_account as "ledgerAccount", e.amount,
            e.kind,
            (select sum(t.amount) from ledger_entries t where t.transfer_id = e.transfer_id) as total,
            case e.kind
              when 'settle' then exists (select 1 from usage_records u
                where u.request_id = substr(e.transfer_id, 8)
                and 'customer:' || u.account_id = e.ledger_account)
              when 'redemption' then exists (select 1 from redemption_codes c
                where c.digest = substr(e.transfer_id, 12) and c.amount = e.amount
                and 'customer:' || c.redeemed_by = e.ledger_account)
              else 1 = 1 end as known,
            e.kind = 'settle' or e.id < (select f.id from receipts r join ledger_entries f
                on f.transfer_id in (r.subject, 'settle:' || r.subject) order by r.rowid limit 1)
              or exists (select 1 from receipts r where r.subject = e.transfer_id) as receipted
          from ledger_entries e where e.id > ${after} and e.id <= ${to} ${ofCustomer} order by e.id`,
    );
    for (const row of rows) {
      addEntry(sums, row);
      yield* rowDifferences(database, row, unbalanced);
    }
    sums.lastId = to;
  }
}

/** Adds the entries that came since, as far as none can come between them any more. */
export async function addSettledEntries(
  database: Database,
  scope: AuditScope,
  sums: EntrySums,
): Promise<void> {
  const query = sql`select max(id) as last from ledger_entries`;
  const found = await database.settled(() => one<{ last: bigint | null }>(database, query));
  const last = found?.last ?? 0n;
  for (const row of await entriesAfter(database, scope, sums.lastId, last)) addEntry(sums, row);
  sums.lastId = last;
}

/** What came after those, by account; called where a balance is read in the same look. */
export async function newestSums(
  database: Database,
  scope: AuditScope,
  sums: EntrySums,
): Promise<EntrySums['byAccount']> {
  const newest = createEntrySums();
  const rows = await entriesAfter(database, scope, sums.lastId, undefined);
  for (const row of rows) addEntry(newest, row);
  return newest.byAccount;
}

function entriesAfter(
  database: Database,
  { accountId }: AuditScope,
  after: bigint,
  to: bigint | undefined,
) {
  const upTo = to === undefined ? sql`` : sql`and id <= ${to}`;
  const ofCustomer = ofAccount(sql`ledger_account`, accountId && `customer:${accountId}`);
  return database.rows<Pick<Row, 'ledgerAccount' | 'amount'>>(
    sql`select ledger_account as "ledgerAccount", amount from ledger_entries
        where id > ${after} ${upTo} ${ofCustomer} order by id`,
  );
}

function addEntry(
  sums: EntrySums,
  { ledgerAccount, amount }: Pick<Row, 'ledgerAccount' | 'amount'>,
): void {
  const accountId = customerOf(ledgerAccount);
  if (accountId === undefined) return;
  sums.byAccount.set(accountId, add(sums.byAccount.get(accountId) ?? ZERO, amount));
}

async function* rowDifferences(
  database: Database,
  row: Row,
  unbalanced: Set<string>,
): AsyncGenerator<Difference> {
  const { transferId, amount } = row;
  if (row.total !== 0n && !unbalanced.has(transferId)) {
    unbalanced.add(transferId);
    const detail = `its legs sum to ${formatTokens(row.total)}`;
    const accountId = await customerOfTransfer(database, transferId);
    yield { kind: 'transfer', accountId, subject: transferId, detail };
  }
  const accountId = customerOf(row.ledgerAccount);
  if (accountId === undefined) return;
  if (row.receipted === 0n) {
    const detail = `${formatTokens(amount)} moved, and no receipt tells of it`;
    yield { kind: 'receipt', accountId, subject: transferId, detail };
  }
  if (row.known === 1n) return;
  if (row.kind === 'settle') {
    const subject = transferId.slice('settle:'.length);
    const detail = `${formatTokens(negate(amount))} was taken, and no usage record tells of it`;
    yield { kind: 'debited', accountId, subject, detail };
  } else {
    const subject = transferId.slice('redemption:'.length);
    const detail = `${formatTokens(amount)} was booked, and no code of that amount was redeemed`;
    yield { kind: 'redemption', accountId, subject, detail };
  }
}

export function customerOf(ledgerAccount: string): string | undefined {
  return ledgerAccount.startsWith('customer:')
    ? ledgerAccount.slice('customer:'.length)
    : undefined;
}

async function customerOfTransfer(database: Database, transferId: string): Promise<string | null> {
  const leg = await one<{ ledgerAccount: string }>(
    database,
    sql`select ledger_account as "ledgerAccount" from ledger_entries
        where transfer_id = ${transferId} and ledger_account like 'customer:%'`,
  );
  return customerOf(leg?.ledgerAccount ?? '') ?? null;
}
