// The prices of one model: each period, its hours of other prices, and which of them is in force.

import type {
  ModelPricesRecord,
  PricePeriodRecord,
  PriceWindowRecord,
} from '../../../records/operator-shop.ts';
import { Badge, Button, Card, Table, Time, Usd } from '../../ui/index.ts';
import { isWithdrawn, keep, withdraw } from './draft.ts';

type Row = {
  readonly period: PricePeriodRecord;
  /** Absent: the period's own price. */
  readonly window?: PriceWindowRecord;
};

export function BookCard({
  model: { model, prices },
  onAdd,
}: {
  readonly model: ModelPricesRecord;
  readonly onAdd: () => void;
}) {
  const rows = prices.flatMap((period): Row[] => [
    { period },
    ...period.windows.map((window) => ({ period, window })),
  ]);
  const usd = (label: string, field: 'input' | 'cached_input' | 'cache_write' | 'output') => ({
    label,
    end: true,
    show: ({ period, window }: Row) => <Usd amount={(window ?? period)[field]} />,
  });
  return (
    <Card
      title={model}
      actions={
        <Button size="small" onClick={onAdd}>
          New price
        </Button>
      }
      flush
    >
      <Table
        caption={`Prices of ${model}, USD for a million tokens`}
        rows={rows}
        rowKey={({ period, window }) => `${period.valid_from} ${window?.from} ${window?.days}`}
        columns={[
          { label: 'From', show: (row) => <From row={row} /> },
          usd('Input', 'input'),
          usd('Cached input', 'cached_input'),
          usd('Cache write', 'cache_write'),
          usd('Output', 'output'),
          { label: '', end: true, show: (row) => <State row={row} model={model} /> },
        ]}
      />
    </Card>
  );
}

function From({ row: { period, window } }: { readonly row: Row }) {
  if (window !== undefined) {
    const days = window.days.length === 7 ? '' : `, ${window.days.join(' ')}`;
    return (
      <span class="soft">
        from {window.from} to {window.to} UTC{days}
      </span>
    );
  }
  return period.valid_from === null ? 'The beginning' : <Time at={period.valid_from} />;
}

function State({ row: { period, window }, model }: { readonly row: Row; readonly model: string }) {
  if ((window ?? period).in_force) return <Badge tone="good">In force</Badge>;
  const from = period.valid_from;
  if (window !== undefined || from === null || Date.parse(from) <= Date.now()) return null;
  if (isWithdrawn(model, from)) {
    return (
      <Button size="small" onClick={() => keep(model, from)}>
        Keep it
      </Button>
    );
  }
  return (
    <Button size="small" kind="quiet-danger" onClick={() => withdraw(model, from)}>
      Withdraw
    </Button>
  );
}
