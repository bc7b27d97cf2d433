// The price book: current and scheduled prices, and the draft of new ones.

import { useState } from 'preact/hooks';
import type { PriceBookRecord } from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { Alert, Loaded, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { InactiveFileAlert } from '../catalog-file.tsx';
import { BookCard } from './book.tsx';
import { DraftCard } from './draft-card.tsx';
import { PeriodDialog } from './period-dialog.tsx';

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
