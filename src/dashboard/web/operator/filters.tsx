// Single filters of a list, kept in the page's address.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { TextField } from '../ui/field.tsx';
import { useFilters } from '../ui/filters.ts';

const TYPING_MS = 250;

/** The value of one filter and its setter; empty if not set. */
export function useFilter(name: string): readonly [string, (value: string) => void] {
  const [search, setFilters] = useFilters();
  return [search.get(name) ?? '', (value) => setFilters({ [name]: value })];
}

/** A text filter: shows input at once, applies it after a pause, and follows the address. */
export function TypedFilter({
  name,
  label,
  placeholder,
  maxLength,
  wide = false,
}: {
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
  readonly maxLength: number;
  readonly wide?: boolean;
}) {
  const [value, set] = useFilter(name);
  const [typed, setTyped] = useState(value);
  /** The last value of the address that this field knows. */
  const applied = useRef(value);
  useEffect(() => {
    if (value === applied.current) return;
    applied.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    const next = typed.trim();
    if (next === applied.current) return;
    const timer = setTimeout(() => {
      applied.current = next;
      set(next);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <TextField
      type="search"
      label={label}
      placeholder={placeholder}
      maxLength={maxLength}
      wide={wide}
      value={typed}
      onInput={setTyped}
    />
  );
}

/** Clears all filters. */
export function useClearFilters(): () => void {
  const [, setParams] = useSearchParams();
  return () => setParams(new URLSearchParams(), { replace: true });
}
