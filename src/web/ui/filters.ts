// What a page keeps in its address, such as the filters of a list: it survives a reload, and "back"
// from a record restores the list.

import { useSearchParams } from 'wouter-preact';

type Changes = Readonly<Record<string, string | undefined>>;

/** The address, and a function that changes some of its values; an empty one is removed. */
export function useFilters(): readonly [URLSearchParams, (changes: Changes) => void] {
  const [search, setSearch] = useSearchParams();
  return [
    search,
    (changes) =>
      setSearch(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value = ''] of Object.entries(changes)) {
            if (value === '') after.delete(name);
            else after.set(name, value);
          }
          return after;
        },
        { replace: true },
      ),
  ];
}

/** The value of one filter and its setter; empty if not set. */
export function useFilter(name: string): readonly [string, (value: string) => void] {
  const [search, setFilters] = useFilters();
  return [search.get(name) ?? '', (value) => setFilters({ [name]: value })];
}

/** Clears all filters. */
export function useClearFilters(): () => void {
  const [, setParams] = useSearchParams();
  return () => setParams(new URLSearchParams(), { replace: true });
}
