// Removes an entry from the catalog file, unless something names it.

import { useEffect, useState } from 'preact/hooks';
import type {
  EntryCheckRecord,
  EntryPublishedRecord,
  EntryRecord,
} from '../../../records/operator-entries.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/parts.tsx';
import { useAction } from '../../ui/resource.ts';
import { Review } from './review.tsx';

export function RemoveDialog({
  record,
  onDone,
  onClose,
}: {
  readonly record: EntryRecord;
  readonly onDone: (published: EntryPublishedRecord) => void;
  readonly onClose: () => void;
}) {
  const { kind, id, file } = record;
  const body = { kind, id, entry: null };
  const [check, setCheck] = useState<EntryCheckRecord | undefined>(undefined);
  const checking = useAction(async () =>
    setCheck(await post<EntryCheckRecord>('/catalog/entries/check', body)),
  );
  useEffect(() => void checking.run(), []);
  return (
    <ConfirmDialog
      title={t('Remove {id} from the catalog?', { id: id ?? '' })}
      consequences={[
        t('New requests can’t use it. Requests in progress finish normally.'),
        t('Past requests, usage and receipts stay.'),
        t('The current file is kept next to the new one.'),
      ]}
      confirm={t('Remove')}
      danger
      act={async () => {
        const basedOn = check?.based_on ?? file.digest;
        onDone(
          await post<EntryPublishedRecord>('/catalog/entries/publish', {
            ...body,
            based_on: basedOn,
          }),
        );
      }}
      onClose={onClose}
    >
      <ErrorAlert error={checking.error.value} />
      {check && <Review check={check} />}
    </ConfirmDialog>
  );
}
