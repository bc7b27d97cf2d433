// The form of a model, an upstream or a plan: a new one, a copy, or one of the catalog. It changes
// its own table in the draft of the catalog's text.

import { useEffect, useState } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import type {
  CatalogEntryKind,
  CatalogTextRecord,
  EntryEditRecord,
  EntryRecord,
} from '../../../dashboard/records/operator-catalog.ts';
import { said } from '../../text/said.ts';
import { t } from '../../text/t.ts';
import { preferredUnit, UnitField } from '../../ui/amount-field.tsx';
import { post } from '../../ui/api.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import type { PageProps } from '../../ui/page.ts';
import { Alert, Card, ErrorAlert, Loaded, Page, Skeleton } from '../../ui/parts.tsx';
import { may } from '../../ui/permission.ts';
import { useAction, useResource } from '../../ui/resource.ts';
import { useChecked } from '../checked.ts';
import { changeText, draft, textOfDraft, useDraftCheck } from './draft.ts';
import { TableFields } from './fields.tsx';
import { KINDS } from './labels.ts';
import { DraftReview } from './review.tsx';
import { TestDialog } from './test-dialog.tsx';
import { type FormValue, toEntry } from './values.ts';

type Of = {
  readonly kind: CatalogEntryKind;
  readonly id: string | undefined;
  /** The entry that a new one is a copy of. */
  readonly from: string | undefined;
};

type Props = Of & {
  readonly record: CatalogTextRecord;
  readonly reload: () => Promise<void>;
  readonly onReset: () => void;
};

export function View({ params }: PageProps) {
  const { kind: named, id } = params;
  const kind = named === 'upstream' || named === 'plan' ? named : 'model';
  const from = new URLSearchParams(useSearch()).get('from') ?? undefined;
  const text = useResource<CatalogTextRecord>('/catalog/text');
  const [version, setVersion] = useState(0);
  return (
    <Loaded resource={text} lines={10}>
      {(record) => (
        <EntryForm
          key={`${kind} ${id} ${from} ${version}`}
          {...{ kind, id, from, record }}
          reload={text.reload}
          onReset={() => setVersion(version + 1)}
        />
      )}
    </Loaded>
  );
}

function EntryForm(props: Props) {
  const { kind, id, from, record, reload } = props;
  /** The text that the form changes, as it was when the form was opened. */
  const [origin] = useState(() => textOfDraft(record));
  const [entry, setEntry] = useState<EntryRecord | undefined>(undefined);
  const [, navigate] = useLocation();
  const loading = useAction(async () => {
    setEntry(await post('/catalog/entry', { text: origin, kind, id: id ?? from ?? null }));
  });
  useEffect(() => void loading.run(), []);
  const removing = useAction(async () => {
    const edit = { text: origin, kind, id, entry: null };
    const { text } = await post<EntryEditRecord>('/catalog/entry/edit', edit);
    changeText(record, text);
    await reload();
    navigate('/catalog');
  });
  const words = KINDS[kind];
  return (
    <Page
      title={
        id !== undefined
          ? words.changed(id)
          : from === undefined
            ? words.created
            : words.copied(from)
      }
      back={words.list}
      actions={
        id !== undefined &&
        entry?.entry && (
          <>
            {may('service.manage') && (
              <LinkButton href={`/catalog/new/${kind}?from=${encodeURIComponent(id)}`}>
                {t('Duplicate')}
              </LinkButton>
            )}
            <Button
              kind="danger"
              needs="service.manage"
              busy={removing.busy.value}
              onClick={() => void removing.run()}
            >
              {t('Remove')}
            </Button>
          </>
        )
      }
    >
      {!may('service.manage') && (
        <Alert tone="accent" title={t('This form is read-only')}>
          <p>{t('Your role can see the catalog, but not change it.')}</p>
        </Alert>
      )}
      <ErrorAlert error={loading.error.value ?? removing.error.value} />
      {entry ? <Fields {...props} entry={entry} origin={origin} /> : <Skeleton lines={10} />}
    </Page>
  );
}

/** A copy has no name yet; a new model has a place for its first upstream. */
function initialOf({ kind, id }: Of, { entry }: EntryRecord): FormValue {
  if (entry === null) {
    if (id !== undefined) return { slug: id };
    return kind === 'model' ? { served_by: [{}] } : {};
  }
  if (id !== undefined) return entry;
  const { id: _, slug: __, aliases: ___, prices: ____, ...rest } = entry;
  return rest;
}

function Fields({
  entry,
  origin,
  ...props
}: Props & { readonly entry: EntryRecord; readonly origin: string }) {
  const { kind, id, record, reload, onReset } = props;
  const { fields, names, defaults } = entry;
  const [value, setValue] = useState(() => initialOf(props, entry));
  const [unit, setUnit] = useState(preferredUnit);
  const [isReviewing, setReviewing] = useState(false);
  const [isTesting, setTesting] = useState(false);
  const [, navigate] = useLocation();
  const readOnly = !may('service.manage');
  const checked = useDraftCheck();
  const named = kind === 'upstream' ? 'id' : 'slug';
  const name = String(value[named] ?? '');

  async function apply(of: FormValue): Promise<EntryEditRecord> {
    const edit = { text: origin, kind, id: id ?? null, entry: toEntry(of, fields) };
    const edited = await post<EntryEditRecord>('/catalog/entry/edit', edit);
    changeText(record, edited.text);
    return edited;
  }
  const applied = useChecked(value, apply, { isOn: isReviewing, afterMs: 300 });
  const path = applied.last?.path;
  // Stays at its field during the next check.
  const problemAt = (member: string) => {
    const found = checked.last?.problems.find((each) => each.path === `${path}.${member}`);
    return found && said(found.text);
  };
  const review = () => {
    setReviewing(true);
    void applied.action.run();
  };

  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        review();
      }}
    >
      <Card
        title={KINDS[kind].one}
        actions={
          kind === 'upstream' && (
            <Button size="small" needs="service.manage" onClick={() => setTesting(true)}>
              {t('Test')}
            </Button>
          )
        }
      >
        {kind === 'model' && (
          <div class="fields entry-unit">
            <UnitField unit={unit} choose={setUnit} />
          </div>
        )}
        <TableFields
          {...{ fields, names, defaults, value, problemAt, unit, readOnly }}
          within=""
          onValue={setValue}
          fixed={id === undefined ? undefined : named}
        />
      </Card>
      <div class="row form-end">
        <Button
          kind="primary"
          type="submit"
          needs="service.manage"
          busy={applied.action.busy.value}
        >
          {t('Review changes')}
        </Button>
      </div>
      <ErrorAlert error={applied.action.error.value} />
      {applied.check && draft.value === undefined && <p class="soft">{t('No changes.')}</p>}
      <DraftReview
        {...{ record, reload, checked, onReset }}
        onPublished={() =>
          navigate(kind === 'plan' ? '/plans' : `${KINDS[kind].list.href}/${name}`)
        }
      />
      {isTesting && (
        <TestDialog
          upstream={name}
          apply={async () => (await apply(value)).text}
          onProblems={() => {
            setTesting(false);
            review();
          }}
          onClose={() => setTesting(false)}
        />
      )}
    </form>
  );
}
