// The price draft, stored in this browser until published or discarded.

import { signal } from '@preact/signals';
import type { Draft, DraftPeriod } from '../../../records/operator-catalog.ts';
import { readStoredJson, store } from '../../ui/stored.ts';

const STORED = 'tollgate-price-draft';
const EMPTY: Draft = { add: [], withdraw: [] };

export const draft = signal<Draft>(read());

export function addPeriod(period: DraftPeriod): void {
  const others = draft.value.add.filter((each) => !isSame(each, period));
  write({ ...draft.value, add: [...others, period] });
}

export function dropPeriod(period: DraftPeriod): void {
  write({ ...draft.value, add: draft.value.add.filter((each) => each !== period) });
}

export function withdraw(model: string, validFrom: string): void {
  const entry = { model, valid_from: validFrom };
  const others = draft.value.withdraw.filter((each) => !isSame(each, entry));
  write({ ...draft.value, withdraw: [...others, entry] });
}

export function keep(model: string, validFrom: string): void {
  const entry = { model, valid_from: validFrom };
  write({ ...draft.value, withdraw: draft.value.withdraw.filter((each) => !isSame(each, entry)) });
}

export function isWithdrawn(model: string, validFrom: string): boolean {
  return draft.value.withdraw.some((each) => isSame(each, { model, valid_from: validFrom }));
}

export function clearDraft(): void {
  write(EMPTY);
}

export function isEmpty({ add, withdraw: gone }: Draft): boolean {
  return add.length + gone.length === 0;
}

type Named = { readonly model: string; readonly valid_from: string };

function isSame(a: Named, b: Named): boolean {
  return a.model === b.model && Date.parse(a.valid_from) === Date.parse(b.valid_from);
}

function write(next: Draft): void {
  draft.value = next;
  store(STORED, JSON.stringify(next));
}

function read(): Draft {
  const stored = readStoredJson(STORED);
  if (typeof stored !== 'object' || stored === null) return EMPTY;
  const { add, withdraw: gone } = stored as Partial<Draft>;
  return Array.isArray(add) && Array.isArray(gone) ? { add, withdraw: gone } : EMPTY;
}
