// The forms of the catalog: every key of the schema has its field, values keep their types, and a
// draft is made again on another version of its entry.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ENTRY_SCHEMAS } from '../../../../src/catalog/entries.ts';
import { type EntryField, entryFields } from '../../../../src/catalog/entry-fields.ts';
import {
  ELSEWHERE,
  fieldText,
  GROUPS,
} from '../../../../src/dashboard/web/operator/entries/labels.ts';
import {
  changedMembers,
  redone,
  toEntry,
} from '../../../../src/dashboard/web/operator/entries/values.ts';

const KINDS = ['model', 'upstream', 'plan'] as const;

test.each(KINDS)('each key of a %s has a field in one card, with a text', (kind) => {
  const names = Object.keys(ENTRY_SCHEMAS[kind].properties).filter((name) => !ELSEWHERE.has(name));
  const shown = GROUPS[kind].flatMap((group) => group.names);
  expect(new Set(shown)).toEqual(new Set(kind === 'plan' ? ['slug', ...names] : names));
  expect(shown.length).toBe(new Set(shown).size);
  const all = (fields: readonly EntryField[]): string[] =>
    fields.flatMap(({ name, fields: below = [] }) => [name, ...all(below)]);
  for (const name of all(entryFields(kind)).filter((each) => !ELSEWHERE.has(each))) {
    if (['valid_from', 'from', 'to', 'days'].includes(name)) continue;
    expect(fieldText(name).label).not.toBe(name);
  }
});

test('typed numbers are sent as numbers, and what is none as it was typed', () => {
  const fields = entryFields('model');
  const value = {
    slug: '12',
    context_window: '128,000',
    max_output: 'many',
    image_factor: '0.5',
    price: { input: '0.10', output: '1' },
    served_by: [{ upstream: 'a', model: '4', weight: '2', idle_seconds: '1.5' }],
    later: 'x',
  };
  expect(toEntry(value, fields)).toEqual({
    ...value,
    context_window: 128_000,
    image_factor: 0.5,
    served_by: [{ upstream: 'a', model: '4', weight: 2, idle_seconds: 1.5 }],
  });
});

test('a draft made again has its own changes and those of the file', () => {
  const entry = fc.dictionary(
    fc.constantFrom('a', 'b', 'c', 'd'),
    fc.oneof(fc.nat(3), fc.string({ minLength: 1 })),
  );
  fc.assert(
    fc.property(entry, entry, entry, (base, draft, now) => {
      const merged = redone(base, draft, now);
      const own = new Set(changedMembers(base, draft));
      for (const name of ['a', 'b', 'c', 'd']) {
        expect(merged[name]).toEqual(own.has(name) ? draft[name] : now[name]);
      }
    }),
  );
});
