// The documentation as the program serves and prints it: the customers' part on the public
// listener, the operators' part in the console, each page complete without its script.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { brotliDecompressSync } from 'node:zlib';
import { PAGES, read } from '../docs/documents.ts';
import { type Gateway, gatewayCommand, startGateway } from '../support/gateway.ts';
import { runProgram } from '../support/program.ts';

const BASE_URL = 'https://api.example.com';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ environment: { BASE_URL } });
});

afterAll(() => gateway[Symbol.asyncDispose]());

type Part = { readonly name: string; readonly prefix: string; readonly origin: () => string };

const PARTS: readonly Part[] = [
  { name: 'customers', prefix: '/docs', origin: () => gateway.url },
  { name: 'operators', prefix: '/operator/docs', origin: () => gateway.operatorUrl() },
];

/** Where each page of a part is served, with the path of its file. */
function pagesOf({ name, prefix }: Part): { readonly path: string; readonly file: string }[] {
  return PAGES.filter((file) => file.startsWith(`src/docs/${name}/`)).map((file) => {
    const topic = file.slice(`src/docs/${name}/`.length, -'.md'.length);
    return { path: topic === 'README' ? prefix : `${prefix}/${topic}`, file };
  });
}

const get = (part: Part, path: string, headers: Record<string, string> = {}) =>
  fetch(`${part.origin()}${path}`, { headers, redirect: 'manual' });

describe.each(PARTS.map((part) => [part.name, part] as const))('%s', (_name, part) => {
  test('serves every page with its title and all of its headings, and one script of its own', async () => {
    const pages = pagesOf(part);
    expect(pages.length).toBeGreaterThan(10);
    for (const { path, file } of pages) {
      const response = await get(part, path);
      const html = await response.text();
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const title = /^# (.+)$/m.exec(read(file))?.[1] ?? '';
      expect(html).toContain(`<h1>${Bun.escapeHTML(title)}</h1>`);
      expect(html).not.toMatch(/<script>|<style| style=| on\w+=/);
      const scripts = [...html.matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
      expect(scripts).toEqual([
        expect.stringMatching(/ src="[^"]*\/docs\/assets\/page-\w+\.js">$/),
      ]);
      expect(html.match(/<h2/g)?.length ?? 0).toBe(countHeadings(read(file)));
    }
  });

  test('has no broken link and no broken anchor, with the index linked from every page', async () => {
    const { path: index } = pagesOf(part).find(({ file }) => file.endsWith('README.md')) ?? {};
    const bodies = new Map<string, string>();
    const load = async (path: string): Promise<string> => {
      const known = bodies.get(path);
      if (known !== undefined) return known;
      const response = await get(part, path);
      const body = response.ok ? await response.text() : '';
      bodies.set(path, body);
      return body;
    };
    const broken: string[] = [];
    for (const { path } of pagesOf(part)) {
      const html = await load(path);
      expect(html).toContain(`href="${index}"`);
      for (const [, href = ''] of html.matchAll(/ (?:href|src)="([^"]+)"/g)) {
        if (/^[a-z]+:/.test(href)) continue;
        const [target = '', anchor] = href.split('#');
        const body = await load(target === '' ? path : target);
        const isThere = anchor === undefined || body.includes(` id="${anchor}"`);
        if (body === '' || !isThere) broken.push(`${path}: ${href}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('has the security headers of the dashboard', async () => {
    const ours = (await get(part, part.prefix)).headers;
    const theirs = (await fetch(`${gateway.url}/dashboard`)).headers;
    for (const name of [
      ...['content-security-policy', 'x-content-type-options', 'x-frame-options'],
      ...['referrer-policy', 'permissions-policy', 'strict-transport-security'],
    ]) {
      expect([name, ours.get(name)]).toEqual([name, theirs.get(name)]);
      expect(ours.get(name)).not.toBeNull();
    }
  });

  test('revalidates pages by their ETag, and keeps files for good', async () => {
    const first = await get(part, part.prefix);
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const again = await get(part, part.prefix, { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const other = await get(part, part.prefix, { 'if-none-match': '"another"' });
    expect(other.status).toBe(200);
    const style = /rel="stylesheet" href="([^"]+)"/.exec(await first.text())?.[1] ?? '';
    const file = await get(part, style);
    expect(file.headers.get('content-type')).toBe('text/css');
    expect(file.headers.get('cache-control')).toContain('immutable');
    expect((await file.text()).includes('prefers-color-scheme')).toBe(true);
  });

  test('compresses pages and files for those who accept it, with tags of their own', async () => {
    const [page] = pagesOf(part).filter(({ file }) => !file.endsWith('README.md'));
    const sent = async (coding: string) => {
      const response = await fetch(`${part.origin()}${page?.path}`, {
        headers: { 'accept-encoding': coding },
        decompress: false,
      });
      const bytes = await response.bytes();
      const { headers } = response;
      expect(headers.get('vary')).toContain('accept-encoding');
      expect(headers.get('content-length')).toBe(String(bytes.byteLength));
      return { bytes, coding: headers.get('content-encoding'), etag: headers.get('etag') };
    };
    const plain = await sent('identity');
    const brotli = await sent('gzip, br');
    expect([plain.coding, brotli.coding]).toEqual([null, 'br']);
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true);
    expect(brotli.bytes.byteLength).toBeLessThan(plain.bytes.byteLength / 2);
    expect(brotli.etag).not.toBe(plain.etag);
  });

  test('serves a page as Markdown, and answers what is not there in its own frame', async () => {
    const [page] = pagesOf(part).filter(({ file }) => !file.endsWith('README.md'));
    const markdown = await get(part, `${page?.path}.md`);
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await markdown.text()).toStartWith('# ');
    const missing = await get(part, `${part.prefix}/no-such-page`);
    expect([missing.status, missing.headers.get('etag')]).toEqual([404, null]);
    expect(await missing.text()).toContain('This page does not exist');
    const slash = await get(part, `${part.prefix}/`);
    expect([slash.status, slash.headers.get('location')]).toEqual([308, part.prefix]);
    const posted = await fetch(`${part.origin()}${part.prefix}`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await fetch(`${part.origin()}${part.prefix}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test('finds sections with every word of a query by a plain form', async () => {
    const search = async (query: string) => {
      const address = `${part.prefix}/search?q=${encodeURIComponent(query)}`;
      const response = await get(part, address);
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
      return response.text();
    };
    const index = await (await get(part, part.prefix)).text();
    expect(index).toContain(`action="${part.prefix}/search"`);
    expect(index).toContain('name="q"');
    const found = await search('Prompt CACH');
    expect(found).toMatch(/<a href="[^"]+#prompt-cach(?:ing|es)">/);
    expect(found).toContain('<mark>');
    expect(await search('thisword isnowhere')).toContain('No section has all words');
    expect(await search(' ')).toContain('Enter one or more words');
    const odd = await search('<script>alert(1)</script> "x(');
    expect(odd).not.toContain('<script>');
    expect(odd).toContain('&lt;script&gt;');
  });
});

test('each part is on its own listener alone', async () => {
  expect((await fetch(`${gateway.url}/operator/docs`)).status).toBe(404);
  expect((await fetch(`${gateway.operatorUrl()}/docs`)).status).toBe(404);
});

test('the operators part answers under the names of this machine alone', async () => {
  const headers = { host: 'elsewhere.example' };
  const answer = await fetch(`${gateway.operatorUrl()}/operator/docs`, { headers });
  expect(answer.status).toBe(421);
});

test('examples show the public address of the server', async () => {
  const html = await (await fetch(`${gateway.url}/docs/quickstart`)).text();
  expect(html).toContain(`curl ${BASE_URL}/v1/chat/completions`);
  expect(html).not.toContain('127.0.0.1:3000');
  const operators = await (await fetch(`${gateway.operatorUrl()}/operator/docs/books`)).text();
  expect(operators).toContain(`href="${BASE_URL}/docs/bill"`);
});

describe('tollgate docs', () => {
  test('lists every page, by the names that print it', async () => {
    const { data } = (await gateway.run('docs')) as {
      data: { topic: string; part: string; title: string; summary: string }[];
    };
    expect(data).toHaveLength(PAGES.length - 1);
    expect(new Set(data.map(({ topic }) => topic)).size).toBe(data.length);
    for (const { title, summary } of data) expect([title, summary]).not.toContain('');
    const { code, stdout } = await command('docs');
    expect(code).toBe(0);
    for (const { topic, title } of data)
      expect(stdout).toMatch(new RegExp(`^${topic} +${title}$`, 'm'));
  });

  test('prints a page as it is in the repository', async () => {
    const { code, stdout } = await command('docs', 'pricing');
    expect([code, stdout]).toEqual([0, read('src/docs/operators/pricing.md')]);
    expect((await command('docs', 'customers/limits')).stdout).toStartWith('# Limits\n');
    expect((await command('docs', 'operators')).stdout).toStartWith('# Operator documentation\n');
  });

  test('rejects an unknown topic', async () => {
    const { code, stdout, stderr } = await command('docs', 'nothing-of-this-name', '--json');
    expect([code, stdout]).toEqual([1, '']);
    expect(JSON.parse(stderr).error.code).toBe('topic_not_found');
  });
});

function command(...args: string[]) {
  return runProgram([...gatewayCommand(), ...args], { cwd: gateway.directory });
}

function countHeadings(markdown: string): number {
  return markdown.replace(/^```[\s\S]*?^```$/gm, '').match(/^## /gm)?.length ?? 0;
}
