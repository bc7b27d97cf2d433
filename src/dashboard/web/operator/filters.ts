// The filters of a list, kept in the address of the page: they outlive a reload, and the way back
// from a record leads to the list as it was.

import { useEffect, useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';

const TYPING_MS = 250;

/** The value of one filter and how to set it; empty where it is not set. */
export function useFilter(name: string): readonly [string, (value: string) => void] {
  const [params, setParams] = useSearchParams();
  return [
    params.get(name) ?? '',
    (value) =>
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          if (value === '') after.delete(name);
          else after.set(name, value);
          return after;
        },
        { replace: true },
      ),
  ];
}

/** The same for text that somebody types: what is shown at once, and set when they pause. */
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

/** Takes all filters away. */
export function useClearFilters(): () => void {
  const [, setParams] = useSearchParams();
  return () => setParams(new URLSearchParams(), { replace: true });
}
