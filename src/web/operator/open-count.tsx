// How many problems are open, in the navigation. Part of the frame of every page.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { OpenRecord } from '../../dashboard/records/operator-server.ts';
import { t } from '../text/t.ts';
import { formatCount } from '../ui/format.ts';
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
  const [location] = useLocation();
  useEffect(() => resource.refresh(), [location]);
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
