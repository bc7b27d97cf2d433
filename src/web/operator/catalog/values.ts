// The value of a form: the entry of the catalog, with text where a number is being typed.

import type { CatalogEntry, EntryField } from '../../../dashboard/records/operator-catalog.ts';

export type FormValue = Readonly<Record<string, unknown>>;

export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function tableOf(value: unknown): FormValue {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as FormValue)
    : {};
}

/** Removes a member that is set to nothing: the server then uses its default. */
export function withMember(table: FormValue, name: string, value: unknown): FormValue {
  const { [name]: _, ...rest } = table;
  return isNothing(value) ? rest : { ...table, [name]: value };
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === '') return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** The entry to send: typed numbers as numbers. What is not one is left for the server to name. */
export function toEntry(value: FormValue, fields: readonly EntryField[]): CatalogEntry {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const field = fields.find((each) => each.name === name);
      return [name, field === undefined ? member : toMember(member, field)];
    }),
  );
}

function toMember(value: unknown, field: EntryField): unknown {
  const { type, fields = [] } = field;
  if (type === 'table') return toEntry(tableOf(value), fields);
  if (type === 'tables') return listOf(value).map((each) => toEntry(tableOf(each), fields));
  if (type === 'texts') return listOf(value).filter((each) => each !== '');
  const isNumber = type === 'integer' || type === 'number';
  if (!isNumber || typeof value !== 'string') return value;
  const plain = value.replaceAll(/[\s,_]/g, '');
  return /^-?\d+(?:\.\d+)?$/.test(plain) ? Number(plain) : value;
}
