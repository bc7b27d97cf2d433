// The log of requests: a line each, days between them, and the request that is open beside them.

import type { ComponentChildren, ComponentType } from 'preact';
import { useLocation } from 'wouter-preact';
import type { LogEntryRecord } from '../../../dashboard/records/customer-request.ts';
import { withQuery } from '../../ui/api.ts';
import { useFilters } from '../../ui/filters.ts';
import { useLazy } from '../../ui/lazy.ts';
import { Card } from '../../ui/parts.tsx';
import type { ListResource } from '../../ui/resource.ts';
import { ListTable } from '../../ui/table.tsx';
import type { Column } from '../../ui/table-column.ts';
import { REQUEST_LINES } from './columns.tsx';
import type { RequestViewProps } from './detail.tsx';

/** Of a page of the log, as its query has it. */
export const PAGE_ROWS = '100';

/** `name` stores the choice of columns; `load` loads the page of one request, for the panel. */
export function RequestLog<Row extends LogEntryRecord>({
  name,
  caption,
  list,
  idOf,
  columns,
  empty,
  load,
  children,
}: {
  readonly name: string;
  readonly caption: string;
  readonly list: ListResource<Row>;
  readonly idOf: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  readonly empty: ComponentChildren;
  readonly load: () => Promise<{ readonly View: ComponentType<RequestViewProps> }>;
  /** Above the list. */
  readonly children?: ComponentChildren;
}) {
  const [search] = useFilters();
  const [, navigate] = useLocation();
  const open = search.get('open') ?? '';
  const besideOf = (id: string | undefined) =>
    withQuery('/requests', { ...Object.fromEntries(search), open: id });
  const View = useLazy(open !== '', load);
  return (
    <>
      <Card flush>
        {children}
        <ListTable
          {...REQUEST_LINES}
          caption={caption}
          name={name}
          list={list}
          rowKey={idOf}
          current={open}
          href={(row) => `/requests/${idOf(row)}`}
          onOpen={(row) => navigate(besideOf(idOf(row)))}
          columns={columns}
          empty={empty}
        />
      </Card>
      {open !== '' && View && (
        <View
          params={{ id: open }}
          panel={{
            ids: (list.rows.value ?? []).map(idOf),
            hrefOf: besideOf,
            close: () => navigate(besideOf(undefined)),
          }}
        />
      )}
    </>
  );
}
