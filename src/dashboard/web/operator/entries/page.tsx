// The pages of the forms: a new entry, a copy of one, and one of the file.

import { useEffect, useState } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import type {
  CatalogEntryKind,
  EntryCheckRecord,
  EntryPublishedRecord,
  EntryRecord,
} from '../../../records/operator-entries.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import type { PageProps } from '../../ui/page.ts';
import { Alert, ErrorAlert, Loaded, Page } from '../../ui/parts.tsx';
import { may } from '../../ui/permission.ts';
import { useAction, useResource } from '../../ui/resource.ts';
import { toast } from '../../ui/toast.tsx';
import { InactiveFileAlert } from '../catalog-file.tsx';
import { EntryEditor } from './editor.tsx';
import { KINDS } from './labels.ts';
import { Review } from './review.tsx';
import type { FormValue } from './values.ts';

export function View({ params }: PageProps) {
  const kind = kindOf(params['kind']);
  const from = new URLSearchParams(useSearch()).get('from') ?? undefined;
  const id = params['id'];
  const query = id ?? from;
  const entry = useResource<EntryRecord>(
    `/catalog/entries/${kind}${query === undefined ? '' : `?id=${encodeURIComponent(query)}`}`,
  );
  return (
    <Loaded resource={entry} lines={10}>
      {(record) => (
        <Shown
          key={`${kind} ${id} ${from}`}
          record={id === undefined ? { ...record, id: null, used_by: [], accounts: 0 } : record}
          initial={initialOf(record, id === undefined)}
          from={id === undefined ? from : undefined}
          reload={entry.reload}
        />
      )}
    </Loaded>
  );
}

function kindOf(text: string | undefined): CatalogEntryKind {
  return text === 'upstream' || text === 'plan' ? text : 'model';
}

/** A copy has no name yet; a new model has a place for its first upstream. */
function initialOf({ kind, id, entry }: EntryRecord, isNew: boolean): FormValue {
  if (entry === null) {
    const first = kind === 'model' ? { served_by: [{}] } : {};
    return isNew ? first : { slug: id };
  }
  if (!isNew) return entry;
  const { id: _, slug: __, aliases: ___, prices: ____, ...rest } = entry;
  return rest;
}

type Props = {
  readonly record: EntryRecord;
  readonly initial: FormValue;
  readonly from: string | undefined;
  readonly reload: () => Promise<void>;
};

function Shown({ record, initial, from, reload }: Props) {
  const [isRemoving, setRemoving] = useState(false);
  const [, navigate] = useLocation();
  const { kind, id, file, entry } = record;
  const words = KINDS[kind];
  const mayEdit = may('service.manage');
  const readOnly = !mayEdit || file.not_writable !== null;
  const inFile = id !== null && entry !== null;
  return (
    <Page
      title={
        id !== null ? words.changed(id) : from === undefined ? words.created : words.copied(from)
      }
      back={words.list}
      actions={
        inFile &&
        file.not_writable === null && (
          <>
            {mayEdit && (
              <LinkButton href={`/catalog/new/${kind}?from=${encodeURIComponent(id)}`}>
                {t('Duplicate')}
              </LinkButton>
            )}
            <Button kind="danger" needs="service.manage" onClick={() => setRemoving(true)}>
              {t('Remove')}
            </Button>
          </>
        )
      }
    >
      {mayEdit && file.not_writable !== null && (
        <Alert tone="warning" title={t('This form is read-only')}>
          <p>{file.not_writable}</p>
          <p>
            {t(
              'The server reads the file that CATALOG names, or catalog.toml in its folder. Once it can write that file, forms publish into it.',
            )}
          </p>
        </Alert>
      )}
      {!mayEdit && (
        <Alert tone="accent" title={t('This form is read-only')}>
          <p>{t('Your role can see the catalog, but not change it.')}</p>
        </Alert>
      )}
      {file.not_writable === null && !file.in_force && <InactiveFileAlert />}
      <EntryEditor
        record={record}
        initial={initial}
        from={from}
        readOnly={readOnly}
        reload={reload}
      />
      {isRemoving && (
        <RemoveDialog
          record={record}
          onDone={({ in_force: isActive }) => {
            toast(isActive ? t('Removed. The server uses the new file.') : t('File written.'));
            navigate(words.list.href);
          }}
          onClose={() => setRemoving(false)}
        />
      )}
    </Page>
  );
}

function RemoveDialog({
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
