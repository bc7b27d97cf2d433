// The form of one entry: its cards, the review of the draft, and its publication.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type {
  EntryCheckRecord,
  EntryPublishedRecord,
  EntryRecord,
} from '../../../records/operator-entries.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import { Alert, Card, ErrorAlert } from '../../ui/parts.tsx';
import { may } from '../../ui/permission.ts';
import { useAction } from '../../ui/resource.ts';
import { readStoredJson, store } from '../../ui/stored.ts';
import { CodeBlock } from '../../ui/tabs.tsx';
import { toast } from '../../ui/toast.tsx';
import { RejectedFileAlert } from '../catalog-file.tsx';
import { useChecked } from '../checked.ts';
import { ConflictAlert } from './conflict.tsx';
import { EntryFieldInput } from './fields.tsx';
import { ELSEWHERE, GROUPS, KINDS } from './labels.ts';
import { Review } from './review.tsx';
import { TestDialog } from './test-dialog.tsx';
import { type FormValue, isSame, listOf, tableOf, toEntry, withMember } from './values.ts';

/** Between the last edit and its check. */
const CHECK_AFTER_MS = 300;

export function EntryEditor({
  record,
  initial,
  from,
  readOnly,
  reload,
}: {
  readonly record: EntryRecord;
  /** The entry of the file, or what a new one starts with. */
  readonly initial: FormValue;
  /** The entry that a new one is a copy of. */
  readonly from?: string | undefined;
  readonly readOnly: boolean;
  readonly reload: () => Promise<void>;
}) {
  const { kind, id, fields, file } = record;
  const name = `${kind}:${id ?? `new ${from ?? ''}`}`;
  const [stored] = useState(() => (readOnly ? undefined : readDraft(name)));
  const [base, setBase] = useState<FormValue>(stored?.base ?? initial);
  const [value, setValue] = useState<FormValue>(stored?.value ?? initial);
  const [isReviewing, setReviewing] = useState(false);
  const [isTesting, setTesting] = useState(false);
  const [isRestored, setRestored] = useState(stored !== undefined);
  const [published, setPublished] = useState<EntryPublishedRecord | undefined>(undefined);
  const [, navigate] = useLocation();
  const isDrafted = !isSame(value, base);
  const isConflict = !isSame(base, initial);
  /** As the server reads it; another object for each version of the draft and of the file. */
  const body = useMemo(
    () => ({ kind, id, entry: toEntry(value, fields), ...(from !== undefined && { from }) }),
    [value, file.digest],
  );

  useEffect(() => {
    if (readOnly) return;
    if (isDrafted) writeDraft(name, { base, value });
    else dropDraft(name);
  }, [value, base]);

  const {
    check,
    last,
    action: checking,
  } = useChecked(body, (draft) => post<EntryCheckRecord>('/catalog/entries/check', draft), {
    isOn: isReviewing,
    afterMs: CHECK_AFTER_MS,
  });

  // Stays during the next check, so that the page does not jump with each key.
  const shown = check ?? last;

  const publishing = useAction(async () => {
    const answer = await post<EntryPublishedRecord>('/catalog/entries/publish', {
      ...body,
      based_on: check?.based_on ?? '',
    });
    dropDraft(name);
    if (!answer.in_force) {
      setPublished(answer);
      return;
    }
    toast(t('Published. The server uses it now.'));
    const own = id ?? String(value['slug'] ?? value['id'] ?? '');
    navigate(kind === 'plan' ? '/plans' : `${KINDS[kind].list.href}/${own}`);
  });
  const hasChanged = publishing.error.value?.code === 'catalog_changed';
  const review = () => {
    setReviewing(true);
    void checking.run();
  };
  const reset = (next: FormValue) => {
    setBase(initial);
    setValue(next);
    setRestored(false);
    setReviewing(false);
    publishing.error.value = undefined;
  };
  // Stays at its field during the next check.
  const problemAt = (path: string) =>
    isReviewing ? last?.problems.find((problem) => problem.path === path)?.text : undefined;
  const known = new Set(GROUPS[kind].flatMap(({ names }) => names));
  const others = fields
    .map((field) => field.name)
    .filter((each) => !known.has(each) && !ELSEWHERE.has(each));
  const groups = [
    ...GROUPS[kind],
    ...(others.length === 0 ? [] : [{ title: t('More'), names: others }]),
  ];

  return (
    <>
      {isRestored && isDrafted && !isConflict && (
        <Alert
          tone="accent"
          title={t('Unpublished draft')}
          actions={
            <Button size="small" onClick={() => reset(initial)}>
              {t('Discard')}
            </Button>
          }
        >
          <p>{t('These are the changes that you began in this browser.')}</p>
        </Alert>
      )}
      {isConflict && <ConflictAlert base={base} value={value} now={initial} onChoose={reset} />}
      {published && <RejectedFileAlert published={published} />}
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          review();
        }}
      >
        {groups.map(({ title, names, ...group }) => (
          <Card key={title} title={title}>
            <div class="stack">
              {'lead' in group && group.lead && <p class="soft">{group.lead}</p>}
              <div class="fields entry-fields">
                {names
                  .flatMap((each) => fields.find((field) => field.name === each) ?? [])
                  .map((field) => (
                    <EntryFieldInput
                      key={field.name}
                      field={field}
                      record={record}
                      value={value}
                      onValue={setValue}
                      problemAt={problemAt}
                      fallback={record.defaults[field.name]}
                      readOnly={readOnly}
                    />
                  ))}
              </div>
            </div>
          </Card>
        ))}
        {(!readOnly || !may('service.manage')) && (
          <Card
            title={t('Review')}
            actions={
              <>
                {kind === 'upstream' && (
                  <Button size="small" needs="service.manage" onClick={() => setTesting(true)}>
                    {t('Test')}
                  </Button>
                )}
                <Button
                  size="small"
                  type="submit"
                  needs="service.manage"
                  busy={checking.busy.value}
                >
                  {t('Review changes')}
                </Button>
                <Button
                  size="small"
                  kind="primary"
                  needs="service.manage"
                  busy={publishing.busy.value}
                  disabled={check?.ok !== true || isConflict}
                  onClick={() => void publishing.run()}
                >
                  {t('Publish')}
                </Button>
              </>
            }
          >
            <div class="stack" aria-live="polite">
              <ErrorAlert error={checking.error.value} retry={checking.run} />
              <ErrorAlert error={publishing.error.value} />
              {hasChanged && (
                <div>
                  <Button size="small" onClick={() => void reload()}>
                    {t('Read the file again')}
                  </Button>
                </div>
              )}
              {shown === undefined ? (
                <p class="soft">
                  {t('Shows every line of the file that would change, before anything is written.')}
                </p>
              ) : (
                <>
                  <Review check={shown} />
                  <details>
                    <summary>{t('As text for the catalog file')}</summary>
                    <CodeBlock code={shown.snippet} label={t('the entry for the catalog')} />
                  </details>
                </>
              )}
            </div>
          </Card>
        )}
      </form>
      {isTesting && (
        <TestDialog
          body={body}
          onProblems={() => {
            setTesting(false);
            review();
          }}
          onClose={() => setTesting(false)}
        />
      )}
    </>
  );
}

type StoredDraft = {
  /** The entry of the file when the draft was begun, to find changes of the file since. */
  readonly base: FormValue;
  readonly value: FormValue;
};

const PREFIX = 'tollgate-catalog-draft:';
const SHOWABLE = /^(?:\$\{[A-Za-z_]\w*\}|<kept \d+>)$/;

function readDraft(name: string): StoredDraft | undefined {
  const stored = readStoredJson(`${PREFIX}${name}`);
  if (typeof stored !== 'object' || stored === null) return undefined;
  const { base, value } = stored as Partial<StoredDraft>;
  return typeof base === 'object' && typeof value === 'object' ? { base, value } : undefined;
}

function writeDraft(name: string, { base, value }: StoredDraft): void {
  store(`${PREFIX}${name}`, JSON.stringify({ base, value: withoutKeys(value) }));
}

function dropDraft(name: string): void {
  store(`${PREFIX}${name}`, undefined);
}

function withoutKeys(value: FormValue): FormValue {
  const { api_key: key, api_keys: keys, proxy, aws } = value;
  const hasPassword = String(proxy ?? '').includes('@') && !SHOWABLE.test(String(proxy));
  const shown = (each: unknown) => SHOWABLE.test(String(each));
  return [
    ['api_key', key === undefined || shown(key) ? key : ''] as const,
    ['api_keys', keys === undefined ? undefined : listOf(keys).filter(shown)] as const,
    ['proxy', hasPassword ? '' : proxy] as const,
    [
      'aws',
      Object.fromEntries(
        Object.entries(tableOf(aws)).filter(([name, each]) => name === 'region' || shown(each)),
      ),
    ] as const,
  ].reduce<FormValue>((draft, [name, member]) => withMember(draft, name, member), value);
}
