// Reads a parsed catalog of whatever shape: what is not there, or is something else, is absent.
// Called by the rules, which look at names even where the values around them are wrong.

import type { Static, TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { isObject } from '../core/json.ts';

/** The members of an entry that have the shape of their schema. */
export function sound<T extends TObject>(schema: T, entry: unknown): Partial<Static<T>> {
  // One look instead of one a member: a server that reloads does nothing else meanwhile.
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

/** The members of a table, in the order of the file. */
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
