// The draft: its changes, the what-if calculation, and publishing.

import { useMemo, useState } from 'preact/hooks';
import type {
  Draft,
  DraftCheckRecord,
  DraftPeriod,
  PriceBookRecord,
  PublishedRecord,
} from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { Price } from '../../ui/amount.tsx';
import { post } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { labelOf } from '../../ui/labels.ts';
import { priceUnits, toUsd } from '../../ui/money.ts';
import { Alert, Card, ErrorAlert, Lines } from '../../ui/parts.tsx';
import { TABLE_RATES } from '../../ui/rate-names.ts';
import { Table } from '../../ui/table.tsx';
import { CodeBlock } from '../../ui/tabs.tsx';
import { Badge, Time } from '../../ui/text.tsx';
import { toast } from '../../ui/toast.tsx';
import { RejectedFileAlert } from '../catalog-file.tsx';
import { useChecked } from '../checked.ts';
import { clearDraft, draft, dropPeriod, isEmpty, keep } from './draft.ts';
import { WhatIf } from './what-if.tsx';

type Props = { readonly book: PriceBookRecord; readonly reload: () => Promise<void> };

export function DraftCard({ book, reload }: Props) {
  const [published, setPublished] = useState<PublishedRecord | undefined>(undefined);
  const current = draft.value;
  return (
    <>
      {published && <PublishedAlert published={published} />}
      {!isEmpty(current) && (
        <Checked
          book={book}
          current={current}
          onPublished={async (record) => {
            setPublished(record);
            clearDraft();
            toast(record.in_force ? t('Prices published.') : t('File written.'));
            await reload();
          }}
        />
      )}
    </>
  );
}

function PublishedAlert({ published }: { readonly published: PublishedRecord }) {
  if (!published.in_force) return <RejectedFileAlert published={published} />;
  return (
    <Alert tone="good" title={t('Published')}>
      <p>
        {t('Wrote {path}. Each price applies from its start time. The previous file is {backup}.', {
          path: published.path,
          backup: published.backup,
        })}
      </p>
    </Alert>
  );
}

function Checked({
  book,
  current,
  onPublished,
}: {
  readonly book: PriceBookRecord;
  readonly current: Draft;
  readonly onPublished: (published: PublishedRecord) => Promise<void>;
}) {
  const [asking, setAsking] = useState(false);
  // Another object for each version of the draft and of the file.
  const version = useMemo(() => ({ ...current }), [current, book.file.digest]);
  const { check, action: checking } = useChecked(version, (sent) =>
    post<DraftCheckRecord>('/prices/check', sent),
  );
  const canPublish = check?.ok === true && book.file.not_writable === null;
  return (
    <Card
      title={t('Draft')}
      actions={
        <>
          <Button size="small" kind="quiet" onClick={clearDraft}>
            {t('Discard')}
          </Button>
          <Button
            size="small"
            kind="primary"
            needs="service.manage"
            disabled={!canPublish}
            onClick={() => setAsking(true)}
          >
            {t('Publish')}
          </Button>
        </>
      }
    >
      <div class="stack">
        <DraftRows draft={current} usdPerMillion={book.usd_per_million} />
        <ErrorAlert error={checking.error.value} retry={checking.run} />
        {check && !check.ok && <ProblemsAlert problems={check.problems} />}
        {check?.ok && check.warnings.length > 0 && (
          <Alert tone="warning" title={t('These prices may not cover their cost')}>
            <Lines lines={check.warnings} />
          </Alert>
        )}
        {check?.ok && <WhatIf draft={current} />}
        {check?.snippet && (
          <details>
            <summary>{t('As text for the catalog file')}</summary>
            <CodeBlock code={check.snippet} label={t('prices for the catalog')} />
          </details>
        )}
      </div>
      {asking && check?.based_on && (
        <ConfirmDialog
          title={t('Publish these prices?')}
          consequences={[
            t('Writes {path} and keeps the current version next to it.', {
              path: book.file.path ?? t('the catalog file'),
            }),
            t(
              'The server reloads the file at once. Customers see the new prices and their start times.',
            ),
            t('You can withdraw a price here until it starts.'),
          ]}
          confirm={t('Publish')}
          act={async () => {
            const body = { ...current, based_on: check.based_on };
            await onPublished(await post<PublishedRecord>('/prices/publish', body));
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  );
}

function ProblemsAlert({ problems }: { readonly problems: readonly string[] }) {
  return (
    <Alert tone="danger" title={t('This draft cannot be published')}>
      <Lines lines={problems} />
    </Alert>
  );
}

type Row =
  | { readonly kind: 'add'; readonly period: DraftPeriod }
  | { readonly kind: 'withdraw'; readonly model: string; readonly valid_from: string };

function DraftRows({
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
  const rates = TABLE_RATES.map((field) => ({
    label: labelOf(field),
    end: true,
    show: (row: Row) =>
      row.kind === 'add' && (
        <Price
          usd={
            toUsd(String(row.period[field] ?? row.period.input), priceUnits(usdPerMillion)) ?? null
          }
        />
      ),
  }));
  return (
    <>
      <Table
        caption={t('Changes of the draft')}
        rows={rows}
        rowKey={(row) => `${row.kind} ${namedOf(row).model} ${namedOf(row).valid_from}`}
        columns={[
          { label: t('Model'), show: (row) => namedOf(row).model },
          { label: t('From'), show: (row) => <Time at={namedOf(row).valid_from} /> },
          ...rates,
          { label: t('Change'), show: (row) => <What row={row} /> },
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
                {t('Remove')}
              </Button>
            ),
          },
        ]}
      />
      <p class="soft small">
        {t('Per 1M tokens. 1M service tokens cost {usdPerMillion} USD.', { usdPerMillion })}
      </p>
    </>
  );
}

function namedOf(row: Row): { readonly model: string; readonly valid_from: string } {
  return row.kind === 'add' ? row.period : row;
}

function What({ row }: { readonly row: Row }) {
  if (row.kind === 'withdraw') return <Badge tone="warning">{t('Withdrawn')}</Badge>;
  const hours = row.period.windows?.length ?? 0;
  const tiers = row.period.tiers?.length ?? 0;
  return (
    <>
      <Badge tone="accent">{hours === 0 ? t('New') : t('New, time-of-day rates')}</Badge>
      {tiers > 0 && (
        <span class="soft small">
          {' '}
          {t('{tiers, plural, one {# tier} other {# tiers}} by prompt length', { tiers })}
        </span>
      )}
    </>
  );
}
