// The draft: its changes, the what-if calculation, and publishing.

import { useMemo, useState } from 'preact/hooks';
import type {
  Draft,
  DraftCheckRecord,
  PriceBookRecord,
  PublishedRecord,
} from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Alert, Card, ErrorAlert, Lines } from '../../ui/parts.tsx';
import { CodeBlock } from '../../ui/tabs.tsx';
import { toast } from '../../ui/toast.tsx';
import { RejectedFileAlert } from '../catalog-file.tsx';
import { useChecked } from '../checked.ts';
import { clearDraft, draft, isEmpty } from './draft.ts';
import { DraftRows } from './draft-rows.tsx';
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
