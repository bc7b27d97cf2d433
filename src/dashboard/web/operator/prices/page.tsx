// The price book: current and scheduled prices, and new ones in the draft of the catalog's text.

import type { ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import type {
  CatalogTextRecord,
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
import { Card, ErrorAlert, Loaded, Page } from '../../ui/parts.tsx';
import { TABLE_RATES } from '../../ui/rate-names.ts';
import { useAction, useResource } from '../../ui/resource.ts';
import { Table } from '../../ui/table.tsx';
import { Badge, Time } from '../../ui/text.tsx';
import { changePrices, useDraftCheck } from '../catalog/draft.ts';
import { DraftReview } from '../catalog/review.tsx';
import { PriceDialog } from './dialog.tsx';
import { TermLines } from './terms.tsx';
import { WhatIf } from './what-if.tsx';

export function View() {
  const book = useResource<PriceBookRecord>('/prices');
  const text = useResource<CatalogTextRecord>('/catalog/text');
  const [adding, setAdding] = useState<string | undefined>(undefined);
  const data = book.data.value;
  const withdrawing = useAction(async (model: string, valid_from: string) => {
    const record = text.data.value;
    if (record) await changePrices(record, { withdraw: [{ model, valid_from }] });
  });
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
            <ErrorAlert error={withdrawing.error.value} />
            <Loaded resource={text} lines={2}>
              {(draftOf) => (
                <>
                  <PriceReview
                    record={draftOf}
                    reload={async () => {
                      await Promise.all([text.reload(), book.reload()]);
                    }}
                  />
                  {adding !== undefined && (
                    <PriceDialog
                      record={draftOf}
                      models={record.models.map(({ model }) => model)}
                      model={adding}
                      onClose={() => setAdding(undefined)}
                    />
                  )}
                </>
              )}
            </Loaded>
            <BookCard models={record.models} onAdd={setAdding} onWithdraw={withdrawing.run} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function PriceReview(props: Pick<ComponentProps<typeof DraftReview>, 'record' | 'reload'>) {
  return (
    <DraftReview {...props} checked={useDraftCheck()}>
      <WhatIf />
    </DraftReview>
  );
}

type Row = {
  readonly model: string;
  /** Only the first row of a model shows its name. */
  readonly isFirst: boolean;
  readonly period: PricePeriodRecord;
  /** Absent for the period's own price. */
  readonly window?: CatalogWindowRecord;
};

type Actions = {
  readonly onAdd: (model: string) => void;
  readonly onWithdraw: (model: string, validFrom: string) => Promise<unknown>;
};

function BookCard({
  models,
  ...actions
}: { readonly models: readonly ModelPricesRecord[] } & Actions) {
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
          { label: '', end: true, show: (row) => <Change row={row} {...actions} /> },
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

function State({ row: { period, window } }: { readonly row: Row }) {
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
  onWithdraw,
}: { readonly row: Row } & Actions) {
  const from = period.valid_from;
  if (isFirst && window === undefined) {
    return (
      <Button size="small" needs="prices.preview" onClick={() => onAdd(model)}>
        {t('New price')}
      </Button>
    );
  }
  if (window !== undefined || from === null || !isToCome(period)) return null;
  return (
    <Button
      size="small"
      kind="quiet-danger"
      needs="prices.preview"
      onClick={() => void onWithdraw(model, from)}
    >
      {t('Withdraw')}
    </Button>
  );
}
