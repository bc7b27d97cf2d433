// Audits single rows: what is part of no balance, and what no receipt states.

import { type SQL, sql } from 'drizzle-orm';
import { requestIdOf } from '../../core/id.ts';
import { HOLD_ENDS } from '../../store/columns.ts';
import type { Database } from '../../store/contract.ts';
import type { AuditScope, Difference } from './difference.ts';
import { ofAccount, rowsInWindows } from './pages.ts';
import type { NumberRange } from './pass.ts';

const UNKNOWN = 'it belongs to no account that has a balance';

export async function* rowDifferences(
  database: Database,
  scope: AuditScope,
): AsyncGenerator<Difference> {
  const only = scope.accountId;
  const requests = rowsInWindows<RequestRow>(database, 'requests', scope, (window) =>
    oddRequests(window, only),
  );
  for await (const { id, accountId } of requests) {
    const detail = accountId === null ? UNKNOWN : 'it was released, and it was charged';
    yield { kind: 'record', accountId, subject: requestIdOf(id), detail };
  }
  if (only !== undefined) return;
  const movements = rowsInWindows<{ readonly transferId: string }>(
    database,
    'movements',
    scope,
    ownerlessMovements,
  );
  for await (const { transferId: subject } of movements) {
    yield { kind: 'record', accountId: null, subject, detail: UNKNOWN };
  }
}

type RequestRow = { readonly id: Uint8Array; readonly accountId: string | null };

function oddRequests({ after, to }: NumberRange, accountId: string | undefined): SQL {
  const [ends, released] = [HOLD_ENDS.length, HOLD_ENDS.indexOf('released')].map((number) =>
    sql.raw(String(number)),
  );
  return sql`select r.id, b.account_id as "accountId"
      from requests r left join balances b on b.number = r.account
      where r.number > ${after} and r.number <= ${to} ${ofAccount(sql`b.account_id`, accountId)}
        and (b.number is null or r.ending % ${ends} = ${released} and r.charged <> 0) order by r.number`;
}

function ownerlessMovements({ after, to }: NumberRange): SQL {
  return sql`select m.transfer_id as "transferId" from movements m
      where m.number > ${after} and m.number <= ${to}
        and not exists (select 1 from balances b where b.number = m.account) order by m.number`;
}
