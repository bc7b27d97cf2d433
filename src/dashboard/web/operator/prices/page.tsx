// The price book: current and scheduled prices, and the draft of new ones.

import { useState } from 'preact/hooks';
import type {
  CatalogWindowRecord,
  ModelPricesRecord,
  PriceBookRecord,
  PricePeriodRecord,
} from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { Price } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { weekdays } from '../../ui/format.ts';
import { labelOf } from '../../ui/labels.ts';
import { Alert, Card, Loaded, Page } from '../../ui/parts.tsx';
import { TABLE_RATES } from '../../ui/rate-names.ts';
import { useResource } from '../../ui/resource.ts';
import { Table } from '../../ui/table.tsx';
import { Badge, Time } from '../../ui/text.tsx';
import { InactiveFileAlert } from '../catalog-file.tsx';
import { isWithdrawn, keep, withdraw } from './draft.ts';
import { DraftCard } from './draft-card.tsx';
import { PeriodDialog } from './period-dialog.tsx';
import { TermLines } from './terms.tsx';

export function View() {
  const book = useResource<PriceBookRecord>('/prices');
  const [adding, setAdding] = useState<string | undefined>(undefined);
  const data = book.data.value;
  return (
    <Page
      title={t('Prices')}
      lead={t('New prices apply from a future time. Past requests keep theirs.')}
      actions={
        <Button
          kind="primary"
          needs="prices.preview"
          disabled={data === undefined || data.models.length === 0}
          onClick={() => setAdding(data?.models[0]?.model)}
        >
          {t('New price')}
        </Button>
      }
    >
      <Loaded resource={book} lines={10}>
        {(record) => (
          <>
            <FileAlert file={record.file} />
            <DraftCard book={record} reload={book.reload} />
            <BookCard models={record.models} onAdd={setAdding} />
            {adding !== undefined && (
              <PeriodDialog book={record} model={adding} onClose={() => setAdding(undefined)} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function FileAlert({ file }: Pick<PriceBookRecord, 'file'>) {
  if (file.not_writable !== null) {
    return (
      <Alert tone="warning" title={t('Prices cannot be published from here')}>
        <p>
          {t('{notWritable} You can still test and copy drafts.', {
            notWritable: file.not_writable,
          })}
        </p>
      </Alert>
    );
  }
  return file.in_force ? null : <InactiveFileAlert />;
}

type Row = {
  readonly model: string;
  /** Only the first row of a model shows its name. */
  readonly isFirst: boolean;
  readonly period: PricePeriodRecord;
  /** Absent for the period's own price. */
  readonly window?: CatalogWindowRecord;
};

function BookCard({
  models,
  onAdd,
}: {
  readonly models: readonly ModelPricesRecord[];
  readonly onAdd: (model: string) => void;
}) {
  const rates = TABLE_RATES.map((field) => ({
    label: labelOf(field),
    end: true,
    show: ({ period, window }: Row) => <Price usd={(window ?? period)[field]} />,
  }));
  return (
    <Card title={t('USD per 1M tokens')} flush>
      <Table
        caption={t('Prices, USD per 1M tokens')}
        rows={models.flatMap(rowsOf)}
        rowKey={({ model, period, window }) =>
          `${model} ${period.valid_from} ${window?.from} ${window?.days}`
        }
        columns={[
          { label: t('Model'), show: ({ model, isFirst }) => (isFirst ? <b>{model}</b> : '') },
          { label: t('From'), show: (row) => <From row={row} /> },
          ...rates,
          { label: t('State'), card: 'value', show: (row) => <State row={row} /> },
          { label: '', end: true, show: (row) => <Change row={row} onAdd={onAdd} /> },
        ]}
      />
    </Card>
  );
}

function rowsOf({ model, prices }: ModelPricesRecord): Row[] {
  return prices.flatMap((period, index): Row[] => [
    { model, isFirst: index === 0, period },
    ...period.windows.map((window) => ({ model, isFirst: false, period, window })),
  ]);
}

function From({ row: { period, window } }: { readonly row: Row }) {
  if (window !== undefined) {
    const days = window.days.length === 7 ? '' : `, ${weekdays(window.days)}`;
    return (
      <span class="soft">
        {t('{from} to {to} UTC{days}', { from: window.from, to: window.to, days })}
        <TermLines terms={window} />
      </span>
    );
  }
  return (
    <>
      {period.valid_from === null ? t('Start') : <Time at={period.valid_from} />}
      <TermLines terms={period} />
    </>
  );
}

function State({ row: { model, period, window } }: { readonly row: Row }) {
  const from = period.valid_from;
  if (from !== null && isWithdrawn(model, from))
    return <Badge tone="warning">{t('Withdrawn')}</Badge>;
  if ((window ?? period).in_force) return <Badge tone="good">{t('Current')}</Badge>;
  if (isToCome(period)) return <Badge tone="accent">{t('Scheduled')}</Badge>;
  return null;
}

function isToCome({ valid_from: from }: PricePeriodRecord): boolean {
  return from !== null && Date.parse(from) > Date.now();
}

function Change({
  row: { model, isFirst, period, window },
  onAdd,
}: {
  readonly row: Row;
  readonly onAdd: (model: string) => void;
}) {
  const from = period.valid_from;
  if (isFirst && window === undefined) {
    return (
      <Button size="small" needs="prices.preview" onClick={() => onAdd(model)}>
        {t('New price')}
      </Button>
    );
  }
  if (window !== undefined || from === null || !isToCome(period)) return null;
  return isWithdrawn(model, from) ? (
    <Button size="small" onClick={() => keep(model, from)}>
      {t('Keep')}
    </Button>
  ) : (
    <Button size="small" kind="quiet-danger" onClick={() => withdraw(model, from)}>
      {t('Withdraw')}
    </Button>
  );
}
