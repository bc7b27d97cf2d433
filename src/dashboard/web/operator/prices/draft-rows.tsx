// The changes of a draft, one per row.

import type { Draft, DraftPeriod } from '../../../records/operator-catalog.ts';
import { Badge, Button, Table, Time } from '../../ui/index.ts';
import { dropPeriod, keep } from './draft.ts';

type Row =
  | { readonly kind: 'add'; readonly period: DraftPeriod }
  | { readonly kind: 'withdraw'; readonly model: string; readonly valid_from: string };

export function DraftRows({
  draft,
  usdPerMillion,
}: {
  readonly draft: Draft;
  readonly usdPerMillion: string;
}) {
  const rows: Row[] = [
    ...draft.withdraw.map((each) => ({ kind: 'withdraw', ...each }) as const),
    ...draft.add.map((period) => ({ kind: 'add', period }) as const),
  ];
  const rate = (label: string, field: 'input' | 'cached_input' | 'cache_write' | 'output') => ({
    label,
    end: true,
    show: (row: Row) => (row.kind === 'add' ? String(row.period[field] ?? row.period.input) : ''),
  });
  return (
    <>
      <Table
        caption="Changes of the draft"
        rows={rows}
        rowKey={(row) => `${row.kind} ${namedOf(row).model} ${namedOf(row).valid_from}`}
        columns={[
          { label: 'Model', show: (row) => namedOf(row).model },
          { label: 'From', show: (row) => <Time at={namedOf(row).valid_from} /> },
          rate('Input', 'input'),
          rate('Cached input', 'cached_input'),
          rate('Cache write', 'cache_write'),
          rate('Output', 'output'),
          { label: 'Change', show: (row) => <What row={row} /> },
          {
            label: '',
            end: true,
            show: (row) => (
              <Button
                size="small"
                kind="quiet"
                onClick={() =>
                  row.kind === 'add' ? dropPeriod(row.period) : keep(row.model, row.valid_from)
                }
              >
                Remove
              </Button>
            ),
          },
        ]}
      />
      <p class="soft small">
        In service tokens per model token. 1M service tokens cost {usdPerMillion} USD.
      </p>
    </>
  );
}

function namedOf(row: Row): { readonly model: string; readonly valid_from: string } {
  return row.kind === 'add' ? row.period : row;
}

function What({ row }: { readonly row: Row }) {
  if (row.kind === 'withdraw') return <Badge tone="warning">Withdrawn</Badge>;
  const hours = row.period.windows?.length ?? 0;
  return <Badge tone="accent">{hours === 0 ? 'New' : 'New, with hours'}</Badge>;
}
