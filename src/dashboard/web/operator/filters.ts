// Single filters of a list, kept in the page's address.

import { useEffect, useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { useFilters } from '../ui/index.ts';

const TYPING_MS = 250;

/** The value of one filter and its setter; empty if not set. */
export function useFilter(name: string): readonly [string, (value: string) => void] {
  const [search, setFilters] = useFilters();
  return [search.get(name) ?? '', (value) => setFilters({ [name]: value })];
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
