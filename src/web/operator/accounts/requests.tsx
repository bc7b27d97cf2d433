// The requests of an account.

import type { LoggedRequestRecord } from '../../../dashboard/records/operator-request.ts';
import { loggedRequestColumns, REQUEST_LINES } from '../../shared/requests/columns.tsx';
import { t } from '../../text/t.ts';
import { Empty } from '../../ui/parts.tsx';
import { useList } from '../../ui/resource.ts';
import { ListTable } from '../../ui/table.tsx';

export function View({ id }: { readonly id: string }) {
  const list = useList<LoggedRequestRecord>(`/accounts/${id}/requests`);
  return (
    <ListTable
      caption={t('Requests')}
      name="account-requests"
      list={list}
      rowKey={({ request_id }) => request_id}
      href={({ request_id }) => `/requests/${request_id}`}
      columns={loggedRequestColumns('account')}
      {...REQUEST_LINES}
      empty={
        <Empty title={t('No requests yet')}>
          {t('Requests of the account appear here, refused ones for seven days.')}
        </Empty>
      }
    />
  );
}
