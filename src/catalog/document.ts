// Reads a parsed catalog of unknown shape: missing or misshapen values are absent. Used by the
// rules, which check names even if the values around them are wrong.

import type { Static, TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { isObject } from '../core/json.ts';

/** The members of an entry that match their schema. */
export function sound<T extends TObject>(schema: T, entry: unknown): Partial<Static<T>> {
  // Fast path: one check instead of one per member, because a reload blocks the server.
  if (Value.Check(schema, entry)) return entry;
  const members = Object.entries(schema.properties).flatMap(([key, member]) => {
    const value = memberOf(entry, key);
    return Value.Check(member, value) && value !== undefined ? [[key, value]] : [];
  });
  return Object.fromEntries(members) as Partial<Static<T>>;
}

export function memberOf(value: unknown, key: string): unknown {
  if (!isObject(value)) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

/** The members of a table, in file order. */
export function tableAt(value: unknown, key: string): [string, unknown][] {
  const member = memberOf(value, key);
  return isObject(member) ? Object.entries(member) : [];
}

export function listAt(value: unknown, key: string): readonly unknown[] {
  const member = memberOf(value, key);
  return Array.isArray(member) ? member : [];
}

export function textAt(value: unknown, key: string): string | undefined {
  const member = memberOf(value, key);
  return typeof member === 'string' ? member : undefined;
}
