// The order of a list that the server sorts, kept in the address: `?sort=-cost` is by cost, highest
// first.

import { useFilters } from './filters.ts';
import type { Sorting } from './sorting.ts';
import type { ListSort } from './table-column.ts';

/**
 * Give `query` to `useList` and the whole to `ListTable`. `fields` are those that the server sorts
 * by; `initial` is the order of the server without a choice.
 */
export function useSort(fields: readonly string[], initial: string): ListSort {
  const [search, setFilters] = useFilters();
  const asked = search.get('sort') ?? '';
  const query = fields.includes(asked.replace(/^-/, '')) ? asked : undefined;
  return {
    query,
    sorting: parse(query ?? initial),
    initial: parse(initial),
    sort(sorting) {
      const next = sorting && `${sorting.descending ? '-' : ''}${sorting.by}`;
      setFilters({ sort: next === initial ? undefined : next });
    },
  };
}

function parse(sort: string): Sorting {
  return { by: sort.replace(/^-/, ''), descending: sort.startsWith('-') };
}
