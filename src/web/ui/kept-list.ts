// Keeps a list while one of its records is shown: the page of it, the filters and the scroll
// position are there again on the way back, and the record knows its neighbours.

import { useEffect, useMemo } from 'preact/hooks';
import type { Query } from './api.ts';
import { type ListPage, type ListResource, useList } from './resource.ts';

type KeptList = {
  /** The filters of the page's address, with the question mark. */
  readonly search: string;
  readonly page: ListPage<unknown>;
  readonly ids: readonly string[];
  readonly top: number;
};

/** By path. */
const lists = new Map<string, KeptList>();

/** Whether the address is that of a record of the list. */
const isWithin = (path: string): boolean =>
  window.location.pathname.startsWith(`${APP_PREFIX}${path}/`);

/** A list whose page has the path that the server reads it by; its records have `path/:id`. */
export function useKeptList<Row>(
  path: string,
  query: Query,
  idOf: (row: Row) => string,
): ListResource<Row> {
  const kept = useMemo(() => takeKept(path), []);
  const list = useList<Row>(path, query, kept?.page as ListPage<Row> | undefined);
  const place = useMemo(() => ({ top: kept?.top ?? 0, search: '' }), []);
  useEffect(() => {
    place.search = window.location.search;
  });
  useEffect(() => {
    // After the frame of the application, which scrolls to the top of a new page.
    const timer = kept && setTimeout(() => window.scrollTo(0, kept.top));
    const follow = () => {
      if (!isWithin(path)) place.top = window.scrollY;
    };
    window.addEventListener('scroll', follow, { passive: true });
    return () => {
      clearTimeout(timer);
      window.removeEventListener('scroll', follow);
      const page = list.page.peek();
      if (page === undefined || !isWithin(path)) return;
      lists.set(path, {
        search: place.search,
        page,
        ids: page.data.map(idOf),
        top: place.top,
      });
    };
  }, []);
  return list;
}

/** Other filters read the list again. */
function takeKept(path: string): KeptList | undefined {
  const kept = lists.get(path);
  lists.delete(path);
  return kept?.search === window.location.search ? kept : undefined;
}

/** The list that a record's page was opened from; forgotten when the user goes elsewhere. */
export function useOpenedFrom(path: string): Pick<KeptList, 'search' | 'ids'> | undefined {
  useEffect(
    () => () => {
      const isBack = window.location.pathname === `${APP_PREFIX}${path}`;
      if (!isBack && !isWithin(path)) lists.delete(path);
    },
    [],
  );
  return lists.get(path);
}
