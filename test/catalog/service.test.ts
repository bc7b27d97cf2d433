// The [service] table: what it defaults to, what it rejects, and the logo beside the catalog.

import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { loadFound } from '../../src/catalog/live.ts';
import { CatalogError } from '../../src/catalog/source.ts';
import { wordsOf } from '../../src/core/sentence.ts';
import { DEFAULT_SERVICE } from '../../src/core/service.ts';
import { faceCatalog } from '../support/face.ts';
import { thrownBy } from '../support/thrown.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-service-'));
afterAll(() => rmSync(folder, { recursive: true }));

const withService = (lines: string): string => faceCatalog(lines, '');

const serviceOf = (lines: string) =>
  loadCatalog({ text: withService(lines), environment: {}, nowMs: 0 }).service;

const problemsOf = (load: () => unknown): readonly string[] =>
  (thrownBy(CatalogError, load)?.problems ?? []).map(wordsOf);

test('has defaults for every key', () => {
  expect(serviceOf('')).toEqual(DEFAULT_SERVICE);
});

test('reads every key', () => {
  const lines = `
    name = "Acme"
    tagline = "Models"
    accent = { light = "#7a1f4b", dark = "#f3a6c8" }
    support_url = "https://acme.example/help?topic=1"
    support_email = "help@acme.example"
    terms_url = "http://acme.example/@terms"
    privacy_url = "https://acme.example/privacy"
    status_url = "https://status.acme.example"
    currency = { code = "JPY", per_usd = "150.50" }
    languages = ["zh", "en"]
    public = { docs = false }`;
  expect(serviceOf(lines)).toEqual({
    name: 'Acme',
    tagline: 'Models',
    accent: { light: '#7a1f4b', dark: '#f3a6c8' },
    supportUrl: 'https://acme.example/help?topic=1',
    supportEmail: 'help@acme.example',
    termsUrl: 'http://acme.example/@terms',
    privacyUrl: 'https://acme.example/privacy',
    statusUrl: 'https://status.acme.example',
    currency: { code: 'JPY', perUsd: '150.5' },
    languages: ['zh', 'en'],
    isPublic: { landing: true, models: true, docs: false },
  });
});

test.each([
  [
    'accent = { light = "#ffe000", dark = "#6cc3dd" }',
    'service.accent.light: must be a darker colour: links in it have a contrast of 1.1 on light pages, and WCAG AA requires 4.5',
  ],
  [
    'accent = { light = "#0d5c75", dark = "#0d5c75" }',
    'service.accent.dark: must be a lighter colour: links in it have a contrast of 2.03 on dark pages, and WCAG AA requires 4.5',
  ],
  [
    'accent = { light = "red", dark = "#6cc3dd" }',
    'service.accent.light: must be a colour such as "#0d5c75"',
  ],
  [
    'terms_url = "javascript:alert(1)"',
    'service.terms_url: must be an http or https address without a user',
  ],
  [
    'status_url = "https://user:secret@status.example"',
    'service.status_url: must be an http or https address without a user',
  ],
  ['support_email = "a@b.c?subject=x"', 'service.support_email: must be an e-mail address'],
  [
    'currency = { code = "EUR" }',
    'service.currency.per_usd: is missing; must be what one USD costs in this currency',
  ],
  [
    'currency = { code = "XQQ", per_usd = "1" }',
    'service.currency.code: is not a currency of ISO 4217',
  ],
  [
    'currency = { code = "USD", per_usd = "2" }',
    'service.currency.per_usd: must be "1" for USD; remove it',
  ],
  ['languages = ["fr"]', 'service.languages[0]: must be "en", "de" or "zh"'],
  [
    'languages = []',
    'service.languages: must be a list of at least one language, without duplicates',
  ],
  ['public = { doc = true }', 'service.public.doc: is not a known key; did you mean docs?'],
])('rejects %s', (lines, problem) => {
  expect(problemsOf(() => serviceOf(lines))).toEqual([`built-in catalog: ${problem}`]);
});

const SVG = '<?xml version="1.0"?>\n<!-- a -->\n<svg xmlns="http://www.w3.org/2000/svg"/>';
const PNG = '\x89PNG\r\n\x1a\n and more';
const WEBP = 'RIFF\x01\x02\x03\x04WEBPVP8 ';

const loadLogo = (file: string, isFollowed = false) =>
  loadFound(
    {
      origin: 'file',
      path: join(folder, 'catalog.toml'),
      text: withService(`logo = ${JSON.stringify(file)}`),
      environment: {},
      isFollowed,
    },
    0,
  ).catalog.service.logo;

test.each([
  ['a.svg', SVG, 'image/svg+xml'],
  ['b.png', PNG, 'image/png'],
  ['c.webp', WEBP, 'image/webp'],
])('reads the logo %s beside the catalog', (file, content, type) => {
  const bytes = new Uint8Array(Buffer.from(content, 'latin1'));
  writeFileSync(join(folder, file), bytes);
  const extension = file.slice(2);
  expect(loadLogo(file)).toEqual({
    path: join(folder, file),
    name: `logo-${Bun.hash(bytes).toString(36)}.${extension}`,
    type: type as 'image/png',
    bytes,
  });
});

test.each([
  ['none.svg', undefined, 'names a file that cannot be read; put it beside the catalog'],
  ['large.svg', SVG + ' '.repeat(262_144), 'must be a file of at most 262,144 bytes'],
  ...[
    ['page.svg', '<html><svg></svg></html>'],
    ['comments.svg', '<!---->'.repeat(140)],
    ['script.png', SVG],
    ['other.webp', PNG],
  ].map(
    ([file = '', content]) =>
      [file, content, 'must be an SVG, PNG or WebP image with the extension of its kind'] as const,
  ),
])('rejects the logo %s', (file, content, problem) => {
  if (content !== undefined) writeFileSync(join(folder, file), Buffer.from(content, 'latin1'));
  expect(problemsOf(() => loadLogo(file))).toEqual([`catalog.toml: service.logo: ${problem}`]);
});

test.each(['../a.svg', '/etc/a.svg', 'b/../../a.svg', 'a.gif', '.a.svg', 'a\\b.svg'])(
  'rejects the place %s of a logo',
  (file) => {
    expect(problemsOf(() => loadLogo(file))).toEqual([
      'catalog.toml: service.logo: must be the name of an SVG, PNG or WebP file in the folder of the catalog, such as "logo.svg"',
    ]);
  },
);

test('a node that follows the catalog of another one serves without a missing logo', () => {
  expect(loadLogo('none.svg', true)).toBeUndefined();
});
