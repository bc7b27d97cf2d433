// The forms of the catalog: every key of the schema has a text, and values keep their types.

import { expect, test } from 'bun:test';
import { type EntryField, entryFields } from '../../../src/catalog/entry-fields.ts';
import { fieldText } from '../../../src/web/operator/catalog/labels.ts';
import { toEntry } from '../../../src/web/operator/catalog/values.ts';

const KINDS = ['model', 'upstream', 'plan'] as const;

test.each(KINDS)('each key of a %s has a text', (kind) => {
  const all = (fields: readonly EntryField[]): string[] =>
    fields.flatMap(({ name, fields: below = [] }) => [name, ...all(below)]);
  for (const name of all(entryFields(kind))) expect(fieldText(name).label).not.toBe(name);
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
