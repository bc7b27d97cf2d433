// The audit of codes: one that was redeemed has its entry, and one that was not has none. That an
// entry has its code is looked at with the entries.

import { sql } from 'drizzle-orm';
import type { Database } from '../../store/contract.ts';
import type { AuditScope, Difference } from './difference.ts';
import { ofAccount, type RowRange, rowsInWindows } from './pages.ts';

type Row = { readonly digest: string; readonly redeemedBy: string | null };

export async function* redemptionDifferences(
  database: Database,
  { accountId }: AuditScope,
): AsyncGenerator<Difference> {
  const ofRedeemer = ofAccount(sql`c.redeemed_by`, accountId);
  const query = ({ after, to }: RowRange) =>
    sql`select c.digest, c.redeemed_by as "redeemedBy" from redemption_codes c
        where c.rowid > ${after} and c.rowid <= ${to} ${ofRedeemer}
        and (c.redeemed_at is null) <> (c.redeemed_by is null)
          or c.rowid > ${after} and c.rowid <= ${to} ${ofRedeemer}
        and c.redeemed_by is not null and not exists (select 1 from ledger_entries e
          where e.transfer_id = 'redemption:' || c.digest and e.amount = c.amount
          and e.ledger_account = 'customer:' || c.redeemed_by)`;
  const rows = rowsInWindows<Row>(database, 'redemption_codes', query);
  for await (const { digest, redeemedBy } of rows) {
    const detail = 'it was redeemed, and no entry of its amount is there';
    yield { kind: 'redemption', accountId: redeemedBy, subject: digest, detail };
  }
}
