// The pages and their files as a browser gets them, and what they weigh.

import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { DEFAULT_SERVICE, LANGUAGES } from '../../src/core/service.ts';
import { createPageFiles } from '../../src/dashboard/edge/files.ts';
import { securityHeaders } from '../../src/dashboard/edge/respond.ts';
import { extractMessages } from '../../src/dashboard/texts/extract.ts';
import { messageKey } from '../../src/dashboard/texts/translate.ts';
import { buildWeb, WEB_PREFIXES, type WebApp } from '../../src/dashboard/web-build.ts';

const APPS: readonly WebApp[] = ['customer', 'operator'];

/** What a first visit of any page loads: page, styles, scripts, icon, the texts of one language. */
const BYTES_MAX = 90 * 1_024;

const headers = securityHeaders(true);

describe.each(APPS)('the files of the %s application', (app) => {
  const prefix = WEB_PREFIXES[app];
  const files = createPageFiles(app, () => DEFAULT_SERVICE);

  function ask(path: string, init: RequestInit = {}): Promise<Response> {
    return Promise.resolve(files.serve(new Request(`https://ours.example${path}`, init), headers));
  }

  /** The addresses of the script, the styles and the icon. */
  async function named(): Promise<string[]> {
    const text = await (await ask(prefix)).text();
    return [...text.matchAll(/<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"/g)].map(
      (match) => match[1] ?? '',
    );
  }

  test('weigh no more than they may, and name no other origin', async () => {
    const { pages, files: built } = await buildWeb(app);
    const page = pages.de;
    const sizeOf = (name: string) => built[name]?.byteLength ?? 0;
    const texts = new Map(
      Object.entries(built).map(([name, bytes]) => [name, brotliDecompressSync(bytes).toString()]),
    );
    /** The scripts that one imports before it runs, itself included. */
    const closure = (name: string, seen: Set<string>): Set<string> => {
      if (seen.has(name)) return seen;
      seen.add(name);
      for (const [, path = ''] of texts.get(name)?.matchAll(/\bfrom"([^"]+)"/g) ?? []) {
        closure(path.split('/').at(-1) ?? '', seen);
      }
      return seen;
    };
    const first = new Set<string>();
    for (const [, name = ''] of page.matchAll(/assets\/([^"]+)"/g)) closure(name, first);
    for (const name of texts.keys()) {
      if (!name.endsWith('.js') || name.startsWith('texts-')) continue;
      const loaded = [...closure(name, new Set(first))];
      const size = loaded.reduce((sum, each) => sum + sizeOf(each), page.length);
      expect([name, size > BYTES_MAX && size]).toEqual([name, false]);
    }
    const origins = [page, ...texts.values()].flatMap(
      (text) => text.match(/(?:https?:)?\/\/[\w-]+\.[\w.-]+/g) ?? [],
    );
    expect(origins.filter((origin) => !NAMES.includes(origin))).toEqual([]);
  });

  test('have every text with arguments that their scripts say, in each language', async () => {
    const { files: built, inputs } = await buildWeb(app);
    const { messages } = await extractMessages(join(import.meta.dir, '../../src'), ['web']);
    const said = messages.filter(({ file }) => inputs.some((input) => input.endsWith(file)));
    const wanted = said.filter(({ text }) => text.includes('{')).map(({ text }) => text);
    expect(wanted.length).toBeGreaterThan(100);
    const catalogues = Object.entries(built).filter(([name]) => name.startsWith('texts-'));
    expect(catalogues.length).toBe(LANGUAGES.length);
    for (const [name, bytes] of catalogues) {
      const texts = brotliDecompressSync(bytes).toString();
      const missing = wanted.filter((text) => !texts.includes(`"${messageKey(text)}":`));
      expect([name, missing]).toEqual([name, []]);
    }
  });

  test('the page is never kept, and neither runs nor styles anything by itself', async () => {
    const response = await ask(`${prefix}/keys/key_1`);
    const text = await response.text();
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(text).not.toMatch(
      /<style|<script(?![^>]* (?:src=|type="application\/json"))|\son\w+=|\sstyle=/,
    );
  });

  test('each file is kept for good, and compressed where that is understood', async () => {
    const addresses = await named();
    const kinds = addresses.map((address) => address.split('.').at(-1)).sort();
    expect([...new Set(kinds)]).toEqual(['css', 'js', 'svg']);
    for (const address of addresses) {
      const plain = await ask(address);
      const packed = await ask(address, { headers: { 'accept-encoding': 'gzip, deflate, br' } });
      expect(address).toStartWith(`${prefix}/assets/`);
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(packed.headers.get('content-encoding')).toBe('br');
      for (const response of [plain, packed]) {
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        expect(response.headers.get('vary')).toBe('accept-encoding');
        expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      }
      expect(brotliDecompressSync(await packed.bytes())).toEqual(Buffer.from(await plain.bytes()));
    }
  });

  test('have the types that a browser wants', async () => {
    const types = (await named()).map(async (address) => [
      address.split('.').at(-1),
      (await ask(address)).headers.get('content-type'),
    ]);
    expect(Object.fromEntries(await Promise.all(types))).toEqual({
      css: 'text/css; charset=utf-8',
      js: 'text/javascript; charset=utf-8',
      svg: 'image/svg+xml',
    });
  });

  test('what a browser has already is not sent again', async () => {
    const [address = ''] = await named();
    const accepted = { 'accept-encoding': 'br' };
    const etag = (await ask(address, { headers: accepted })).headers.get('etag') ?? '';
    const again = await ask(address, {
      headers: { ...accepted, 'if-none-match': `"old", W/${etag}` },
    });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    // The tag of one encoding is none of the other.
    expect((await ask(address, { headers: { 'if-none-match': etag } })).status).toBe(200);
  });

  test('br with a weight of zero is not accepted', async () => {
    const [address = ''] = await named();
    const response = await ask(address, { headers: { 'accept-encoding': 'gzip, br;q=0' } });
    expect(response.headers.get('content-encoding')).toBeNull();
  });

  test('HEAD has the headers of GET and no body', async () => {
    const [address = ''] = await named();
    for (const path of [address, prefix]) {
      const response = await ask(path, { method: 'HEAD' });
      const length = (await (await ask(path)).bytes()).byteLength;
      expect(await response.text()).toBe('');
      expect(response.headers.get('content-length')).toBe(String(length));
    }
  });

  test.each([
    '/assets',
    '/assets/',
    '/assets/unknown.js',
    '/assets/..%2f..%2fpackage.json',
    '/assets/constructor',
    '/assets/__proto__',
    '/assets//etc/passwd',
  ])('%s is no file, and no page either', async (path) => {
    const response = await ask(`${prefix}${path}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'text/plain; charset=utf-8',
    ]);
  });

  test('a path outside the folder returns the page like any other path', async () => {
    const response = await ask(`${prefix}/assets/%2e%2e/main.tsx`);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });
});

/**
 * Names that are no addresses, since nothing is ever asked of them: of a language, of a base that
 * paths are resolved against, of a schema in a file for an agent, of a project in an error of the
 * Markdown parser, and of an example.
 */
const NAMES = [
  'http://www.w3.org',
  'https://same.invalid',
  'https://opencode.ai',
  'https://github.com',
  'http://proxy.example',
];
