// The proof page shows a real run: every check that it explains, signed off, and no other.

import { expect, test } from 'bun:test';
import { blocks, operatorPage, section, tableRows } from './documents.ts';

const page = operatorPage('proof');

test('the last run has each check that the page explains, and all of them hold', () => {
  const [block = ''] = blocks(section(page, 'The last run'), 'text');
  const rows = block.split('\n\n')[0]?.split('\n').slice(1) ?? [];
  const checks = rows.map((row) => row.split(/ {2,}/));
  const explained = tableRows(section(page, 'The self-test')).flatMap(([names = '']) =>
    names.replaceAll('`', '').split(', '),
  );
  expect(checks.map(([name]) => name)).toEqual(explained);
  expect(checks.filter(([, result]) => result !== 'ok')).toEqual([]);
  expect(block).toMatch(/^executable +sha256 [0-9a-f]{64}$/m);
  expect(block).toMatch(/^version +\d+\.\d+\.\d+\+[0-9a-f]+$/m);
  expect(block).toMatch(
    new RegExp(`^signed off +yes: ${rows.length} of ${rows.length} checks hold$`, 'm'),
  );
});
