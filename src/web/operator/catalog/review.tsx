// What the draft changes: the problems to correct, or the lines of the file that differ, and its
// publication. A file that has changed since the draft was begun is merged with it first.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type {
  CatalogTextRecord,
  PublishedRecord,
  TextCheckRecord,
} from '../../../dashboard/records/operator-catalog.ts';
import { spoken } from '../../text/said.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Alert, Card, ErrorAlert } from '../../ui/parts.tsx';
import { useAction } from '../../ui/resource.ts';
import { toast } from '../../ui/toast.tsx';
import { type DraftCheck, discardDraft, draft, mergeDraft } from './draft.ts';
import { Lines } from './lines.tsx';

type Problem = TextCheckRecord['problems'][number];

type Props = {
  readonly record: CatalogTextRecord;
  readonly reload: () => Promise<void>;
  readonly checked: DraftCheck;
  /** Shows the place of a problem. */
  readonly onPlace?: (problem: Problem) => void;
  /** The text is another one than a form or an editor has shown. */
  readonly onReset?: () => void;
  readonly onPublished?: () => void;
  /** Shown for a draft without problems. */
  readonly children?: ComponentChildren;
};

export function DraftReview(props: Props) {
  const [published, setPublished] = useState<PublishedRecord | undefined>(undefined);
  const { file } = props.record;
  return (
    <>
      {published && (
        <Alert tone="danger" title={t('The file was written, but the server rejected it')}>
          <Lines lines={published.problems} />
          <p>{t('The previous file is {backup}.', { backup: published.backup })}</p>
        </Alert>
      )}
      {file.not_writable !== null && (
        <Alert tone="warning" title={t('The catalog cannot be published from here')}>
          <p>{spoken(file.not_writable)}</p>
          <p>
            {t(
              'The server reads the file that CATALOG names, or catalog.toml in its folder. You can still check a draft and copy its text.',
            )}
          </p>
        </Alert>
      )}
      {file.not_writable === null && !file.in_force && (
        <Alert
          tone="warning"
          title={t('The catalog file is not active')}
          actions={
            <LinkButton href="/catalog" size="small">
              {t('Catalog')}
            </LinkButton>
          }
        >
          <p>{t('Publishing edits the file on disk. First check why the server rejected it.')}</p>
        </Alert>
      )}
      {draft.value && <Review {...props} onRejected={setPublished} />}
    </>
  );
}

function Review({
  record,
  reload,
  checked: { check, last, action: checking },
  onPlace,
  onReset,
  onPublished,
  onRejected,
  children,
}: Props & { readonly onRejected: (published: PublishedRecord) => void }) {
  const { text = '', basedOn } = draft.value ?? {};
  // Stays during the next check, so that the page does not jump with each key.
  const shown = check ?? last;
  const hasChanged = basedOn !== (check?.based_on ?? record.based_on);
  const publishing = useAction(async () => {
    const body = { text, based_on: basedOn };
    const published = await post<PublishedRecord>('/catalog/text/publish', body);
    discardDraft();
    if (published.in_force) toast(t('Published. The server uses it now.'));
    else onRejected(published);
    await reload();
    if (published.in_force) onPublished?.();
  });
  const merging = useAction(async () => {
    if (draft.value) await mergeDraft(draft.value);
    // Before the file is read again: until then, a form would change the text that it began with.
    onReset?.();
    await reload();
  });
  const discard = async () => {
    discardDraft();
    await reload();
    onReset?.();
  };
  return (
    <Card
      title={t('Draft')}
      actions={
        <>
          <Button size="small" kind="quiet" onClick={() => void discard()}>
            {t('Discard')}
          </Button>
          <Button
            size="small"
            kind="primary"
            needs="service.manage"
            busy={publishing.busy.value}
            disabled={check?.ok !== true || hasChanged || record.file.not_writable !== null}
            onClick={() => void publishing.run()}
          >
            {t('Publish')}
          </Button>
        </>
      }
    >
      <div class="stack" aria-live="polite">
        {hasChanged && (
          <Alert
            tone="warning"
            title={t('The file has changed since you began')}
            actions={
              <Button size="small" busy={merging.busy.value} onClick={() => void merging.run()}>
                {t('Reapply my changes')}
              </Button>
            }
          >
            <p>
              {t(
                'Reapplying makes your changes again in the text as it is now. Lines that both have changed are marked for you to choose.',
              )}
            </p>
          </Alert>
        )}
        <ErrorAlert error={merging.error.value} />
        <ErrorAlert error={checking.error.value} retry={checking.run} />
        <ErrorAlert error={publishing.error.value} />
        {shown && <Shown check={shown} onPlace={onPlace} />}
        {check?.ok && children}
      </div>
    </Card>
  );
}

function Shown({
  check: { problems, warnings, standing, summary, difference },
  onPlace,
}: {
  readonly check: TextCheckRecord;
  readonly onPlace: Props['onPlace'];
}) {
  return (
    <>
      {problems.length > 0 && (
        <Alert tone="danger" title={t('This cannot be published yet')}>
          <ul class="plain">
            {problems.map((problem) => (
              <li key={`${problem.path} ${spoken(problem.text)}`}>
                {onPlace ? (
                  <Button kind="quiet" size="small" onClick={() => onPlace(problem)}>
                    {placeOf(problem)}
                  </Button>
                ) : (
                  placeOf(problem)
                )}
                {`: ${problem.path} ${spoken(problem.text)}`}
              </li>
            ))}
          </ul>
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert tone="warning" title={t('Warnings')}>
          <Lines lines={warnings} />
        </Alert>
      )}
      {standing.length > 0 && (
        <details>
          <summary>
            {t('{count, plural, one {# warning} other {# warnings}} of the active catalog', {
              count: standing.length,
            })}
          </summary>
          <Lines lines={standing} />
        </details>
      )}
      {problems.length === 0 && difference.length === 0 && <p class="soft">{t('No changes.')}</p>}
      <ul class="plain entry-summary">
        {summary.map(spoken).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {difference.length > 0 && <Difference lines={difference} />}
    </>
  );
}

function placeOf({ line, column }: Problem): string {
  return t('Line {line}, column {column}', { line, column });
}

const SIGNS = { same: ' ', removed: '-', added: '+', gap: ' ' } as const;

function Difference({ lines }: { readonly lines: TextCheckRecord['difference'] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keys.
    <section class="difference" tabIndex={0} aria-label={t('Changed lines of the file')}>
      <pre>
        {lines.map(({ kind, line, text }, at) => (
          <span key={at} class={kind}>
            {kind === 'gap' ? '⋯\n' : `${String(line).padStart(4)} ${SIGNS[kind]} ${text}\n`}
          </span>
        ))}
      </pre>
    </section>
  );
}
