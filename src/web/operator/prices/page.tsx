// The price book: current and scheduled prices, and new ones in the draft of the catalog's text.

import type { ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import type {
  CatalogTextRecord,
  ModelPricesRecord,
  PriceBookRecord,
  PricePeriodRecord,
} from '../../../dashboard/records/operator-catalog.ts';
import { PRICE_COLUMNS, type PriceRow, priceRows } from '../../shared/prices.tsx';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { Card, ErrorAlert, Loaded, Page } from '../../ui/parts.tsx';
import { useAction, useResource } from '../../ui/resource.ts';
import { Table } from '../../ui/table.tsx';
import { Badge } from '../../ui/text.tsx';
import { changePrices, useDraftCheck } from '../catalog/draft.ts';
import { DraftReview } from '../catalog/review.tsx';
import { PriceDialog } from './dialog.tsx';
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

type Row = PriceRow<PricePeriodRecord> & { readonly model: string };

type Actions = {
  readonly onAdd: (model: string) => void;
  readonly onWithdraw: (model: string, validFrom: string) => Promise<unknown>;
};

function BookCard({
  models,
  ...actions
}: { readonly models: readonly ModelPricesRecord[] } & Actions) {
  const rows = models.flatMap(({ model, prices }) =>
    priceRows(prices).map((row, index): Row => ({ ...row, model, key: `${model} ${index}` })),
  );
  return (
    <Card title={t('USD per 1M tokens')} flush>
      <Table
        caption={t('Prices, USD per 1M tokens')}
        rows={rows}
        rowKey={({ key }) => key}
        columns={[
          { label: t('Model'), show: (row) => isFirst(row) && <b>{row.model}</b> },
          ...PRICE_COLUMNS,
          { label: t('State'), card: 'value', show: (row) => <State row={row} /> },
          { label: '', end: true, show: (row) => <Change row={row} {...actions} /> },
        ]}
      />
    </Card>
  );
}

/** The first row of a model shows its name. */
function isFirst({ model, key }: Row): boolean {
  return key === `${model} 0`;
}

function State({ row: { period, window } }: { readonly row: Row }) {
  if ((window ?? period).in_force) return <Badge tone="good">{t('Current')}</Badge>;
  if (isToCome(period)) return <Badge tone="accent">{t('Scheduled')}</Badge>;
  return null;
}

function isToCome({ valid_from: from }: PricePeriodRecord): boolean {
  return from !== null && Date.parse(from) > Date.now();
}

function Change({ row, onAdd, onWithdraw }: { readonly row: Row } & Actions) {
  const { model, period, window } = row;
  const from = period.valid_from;
  if (isFirst(row)) {
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
