// Every error that a page can get has a text in the other languages.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { ERROR_TEXTS } from '../../src/web/ui/error-texts.ts';

const SOURCES = join(import.meta.dir, '../../src');

const THROWN = /new (?:Operation|Identity|Dashboard)Error\(\s*'([a-z_]+)'/g;

/** Thrown by commands and by the server's start. */
const NOT_ON_PAGES = [
  'address_unavailable',
  'archive_changed',
  'archive_damaged',
  'archive_not_found',
  'archived_while_read',
  'bad_row',
  'database_not_empty',
  'file_not_readable',
  'file_not_usable',
  'ledger_differs',
];

/** The API of the operators alone: tokens, and references of a checkout. */
const OF_TOKENS = [
  'invalid_credit_id',
  'invalid_operator_token',
  'invalid_reference',
  'reference_expired',
  'scope_required',
  'token_without_owner',
  'unsupported_media_type',
];

test('each code has one, unless no page can get it', async () => {
  const thrown = new Set<string>();
  for await (const file of new Glob('**/*.ts').scan(SOURCES)) {
    const source = await Bun.file(join(SOURCES, file)).text();
    for (const [, code = ''] of source.matchAll(THROWN)) thrown.add(code);
  }
  const known = new Set([...Object.keys(ERROR_TEXTS), ...NOT_ON_PAGES, ...OF_TOKENS]);
  expect([...thrown].filter((code) => !known.has(code)).sort()).toEqual([]);
  const others = [...NOT_ON_PAGES, ...OF_TOKENS];
  expect(others.filter((code) => !thrown.has(code))).toEqual([]);
});
