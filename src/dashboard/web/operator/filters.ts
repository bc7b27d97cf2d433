// The filters of a list, kept in the page's address: they survive a reload, and "back" from a record
// restores the list.

import { useEffect, useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';

const TYPING_MS = 250;

type Filters = Readonly<Record<string, string>>;

/** The filters that are set, and a function that changes some of them; empty removes one. */
export function useFilters(): readonly [Partial<Filters>, (changes: Filters) => void] {
  const [params, setParams] = useSearchParams();
  return [
    Object.fromEntries(params),
    (changes) =>
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value] of Object.entries(changes)) {
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
  const [filters, setFilters] = useFilters();
  return [filters[name] ?? '', (value) => setFilters({ [name]: value })];
}

/** The same for text fields: shows input at once and applies it after a pause. */
export function useTypedFilter(name: string) {
  const [value, set] = useFilter(name);
  const [typed, setTyped] = useState(value);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => set(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return { value, typed, setTyped } as const;
}

/** Clears all filters. */
export function useClearFilters(): () => void {
  const [, setParams] = useSearchParams();
  return () => setParams(new URLSearchParams(), { replace: true });
}
