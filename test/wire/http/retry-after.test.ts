import { expect, test } from 'bun:test';
import { readRetryAfterMs } from '../../../src/wire/http/retry-after.ts';

const NOW = Date.UTC(2026, 0, 1);

test.each([
  ['nothing', {}, undefined],
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['none of them', { 'retry-after': '0' }, 0],
  ['parts of a second', { 'retry-after': '0.25' }, 250],
  ['less than a millisecond', { 'retry-after': '0.0001' }, 1],
  ['years', { 'retry-after': '99999999' }, 3_600_000],
  ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  ['a date that has passed', { 'retry-after': 'Wed, 31 Dec 2025 23:59:59 GMT' }, 0],
  ['a date far away', { 'retry-after': 'Fri, 01 Jan 2027 00:00:00 GMT' }, 3_600_000],
  ['a date that is none', { 'retry-after': 'Thu, 41 Xyz 2026 00:00:30 GMT' }, undefined],
  ['another form of date', { 'retry-after': '2026-01-01T00:00:30Z' }, undefined],
  ['a negative number', { 'retry-after': '-1' }, undefined],
  ['words', { 'retry-after': 'soon' }, undefined],
  ['two values', { 'retry-after': '1, 2' }, undefined],
  ['an empty value', { 'retry-after': '' }, undefined],
  ['milliseconds', { 'retry-after-ms': '1500.5', 'retry-after': '9' }, 1_501],
  ['milliseconds that are none', { 'retry-after-ms': 'x', 'retry-after': '9' }, 9_000],
] satisfies [string, Record<string, string>, number | undefined][])('%s', (_name, fields, ms) => {
  const said = new Map(Object.entries(fields));
  const [exact, text] = [said.get('retry-after-ms'), said.get('retry-after')];
  expect(readRetryAfterMs(exact, text, () => NOW)).toBe(ms);
});
