// Keeps a list while one of its records is shown: the loaded rows, the filters and the scroll
// position are there again on the way back, and the record knows its neighbours.

import { useEffect, useMemo } from 'preact/hooks';
import type { Query } from './api.ts';
import { type ListRecord, type ListResource, useList } from './resource.ts';

type KeptList = {
  /** The filters of the page's address, with the question mark. */
  readonly search: string;
  readonly list: ListRecord<unknown>;
  readonly ids: readonly string[];
  readonly top: number;
};

/** By the path of the list's page. */
const lists = new Map<string, KeptList>();

/** Whether the address is that of a record of the list. */
const isWithin = (base: string): boolean =>
  window.location.pathname.startsWith(`${APP_PREFIX}${base}/`);

/** A list whose records have the pages `base/:id`. */
export function useKeptList<Row>(
  base: string,
  path: string,
  query: Query,
  idOf: (row: Row) => string,
): ListResource<Row> {
  const kept = useMemo(() => takeKept(base), []);
  const list = useList<Row>(path, query, kept?.list as ListRecord<Row> | undefined);
  const place = useMemo(() => ({ top: kept?.top ?? 0, search: '' }), []);
  useEffect(() => {
    place.search = window.location.search;
  });
  useEffect(() => {
    // After the frame of the application, which scrolls to the top of a new page.
    const timer = kept && setTimeout(() => window.scrollTo(0, kept.top));
    const follow = () => {
      if (!isWithin(base)) place.top = window.scrollY;
    };
    window.addEventListener('scroll', follow, { passive: true });
    return () => {
      clearTimeout(timer);
      window.removeEventListener('scroll', follow);
      const rows = list.rows.peek();
      if (rows === undefined || !isWithin(base)) return;
      lists.set(base, {
        search: place.search,
        list: { data: rows, next: list.next() },
        ids: rows.map(idOf),
        top: place.top,
      });
    };
  }, []);
  return list;
}

/** Other filters read the list again. */
function takeKept(base: string): KeptList | undefined {
  const kept = lists.get(base);
  lists.delete(base);
  return kept?.search === window.location.search ? kept : undefined;
}

/** The list that a record's page was opened from; forgotten when the user goes elsewhere. */
export function useOpenedFrom(base: string): Pick<KeptList, 'search' | 'ids'> | undefined {
  useEffect(
    () => () => {
      const isBack = window.location.pathname === `${APP_PREFIX}${base}`;
      if (!isBack && !isWithin(base)) lists.delete(base);
    },
    [],
  );
  return lists.get(base);
}
