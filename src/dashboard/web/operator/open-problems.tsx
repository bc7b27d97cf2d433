// What is wrong now, as one list: in the navigation, on the overview and on the page of alerts.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { OpenRecord, Sentence } from '../../records/operator-server.ts';
import { said } from '../text/said.ts';
import { t } from '../text/t.ts';
import { formatCount } from '../ui/format.ts';
import { Link } from '../ui/link.tsx';
import { Alert } from '../ui/parts.tsx';
import { useResource } from '../ui/resource.ts';
import { Badge } from '../ui/text.tsx';
import { useRefresh } from './refresh.ts';

const EVERY_MS = 15_000;

/** As read for the navigation or a page; undefined until then. */
export const openNow = signal<OpenRecord | undefined>(undefined);

/** Shows the same in the navigation as a page does. */
export function useOpen(record: OpenRecord | undefined): void {
  useEffect(() => {
    if (record !== undefined) openNow.value = record;
  }, [record]);
}

/** How many, beside the link to the alerts. */
export function OpenCount() {
  const resource = useResource<OpenRecord>('/open');
  useRefresh(resource, EVERY_MS);
  useOpen(resource.data.value);
  const count = openNow.value?.problems.length ?? 0;
  if (count === 0) return null;
  return (
    <Badge tone={openNow.value?.status === 'ready' ? 'warning' : 'danger'}>
      {formatCount(count)}
      <span class="sr-only"> {t('open')}</span>
    </Badge>
  );
}

export function OpenProblems({ record }: { readonly record: OpenRecord | undefined }) {
  if (record === undefined || record.problems.length === 0) return null;
  const { status, problems } = record;
  const isReady = status === 'ready';
  return (
    <Alert
      tone={isReady ? 'warning' : 'danger'}
      title={
        isReady
          ? t('{count, plural, one {# open problem} other {# open problems}}', {
              count: problems.length,
            })
          : t('Not ready for new requests')
      }
    >
      <ul>
        {problems.map((problem) => (
          <li key={said(problem)}>
            <SaidLink sentence={problem} />
          </li>
        ))}
      </ul>
    </Alert>
  );
}

/** A link to the cause, where it has a page. */
export function SaidLink({ sentence }: { readonly sentence: Sentence }) {
  const words = said(sentence);
  const { about } = sentence;
  if (about === undefined || about.startsWith('alerts#')) return words;
  return <Link href={`/${about}`}>{words}</Link>;
}
