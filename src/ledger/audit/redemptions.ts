// Audits codes: a redeemed code has its movement, an unused one has none, and every redemption has
// its code.

import { type SQL, sql } from 'drizzle-orm';
import { formatTokens, type Micro } from '../../core/money.ts';
import { MOVEMENT_KINDS } from '../../core/receipt.ts';
import type { Database } from '../../store/contract.ts';
import type { AuditScope, Difference } from './difference.ts';
import { ofAccount, rowsInWindows } from './pages.ts';
import type { NumberRange } from './pass.ts';

const PREFIX = 'redemption:';

export async function* redemptionDifferences(
  database: Database,
  scope: AuditScope,
): AsyncGenerator<Difference> {
  const only = scope.accountId;
  const booked = rowsInWindows<BookedRow>(database, 'movements', scope, (window) =>
    redemptionsWithoutCode(window, only),
  );
  for await (const { transferId, accountId, amount } of booked) {
    const subject = transferId.slice(PREFIX.length);
    const detail = `${formatTokens(amount)} was booked, and no code of that amount was redeemed`;
    yield { kind: 'redemption', accountId, subject, detail };
  }
  const redeemed = rowsInWindows<CodeRow>(database, 'redemption_codes', scope, (window) =>
    codesWithoutMovement(window, only),
  );
  for await (const { digest: subject, redeemedBy: accountId } of redeemed) {
    const detail = 'it was redeemed, and no entry of its amount is there';
    yield { kind: 'redemption', accountId, subject, detail };
  }
}

type BookedRow = {
  readonly transferId: string;
  readonly accountId: string;
  readonly amount: Micro;
};

function redemptionsWithoutCode({ after, to }: NumberRange, accountId: string | undefined): SQL {
  const redemption = sql.raw(String(MOVEMENT_KINDS.indexOf('redemption')));
  return sql`select m.transfer_id as "transferId", b.account_id as "accountId", m.amount
      from movements m join balances b on b.number = m.account
      where m.number > ${after} and m.number <= ${to} ${ofAccount(sql`b.account_id`, accountId)}
        and m.kind = ${redemption} and not exists (select 1 from redemption_codes c
          where c.digest = substr(m.transfer_id, ${sql.raw(String(PREFIX.length + 1))})
          and c.amount = m.amount and c.redeemed_by = b.account_id)`;
}

type CodeRow = { readonly digest: string; readonly redeemedBy: string | null };

function codesWithoutMovement({ after, to }: NumberRange, accountId: string | undefined): SQL {
  return sql`select c.digest, c.redeemed_by as "redeemedBy" from redemption_codes c
      where c.rowid > ${after} and c.rowid <= ${to} ${ofAccount(sql`c.redeemed_by`, accountId)}
        and ((c.redeemed_at is null) <> (c.redeemed_by is null)
          or c.redeemed_by is not null and not exists (select 1 from movements m
            join balances b on b.number = m.account
            where m.transfer_id = ${PREFIX} || c.digest and m.amount = c.amount
            and b.account_id = c.redeemed_by))`;
}
