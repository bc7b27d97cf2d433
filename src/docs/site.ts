// Serves one part of the documentation: pages, their Markdown, the search, and two files. Pages carry an
// ETag and are revalidated; files change their name with their content and are kept for good.

import { isUnchanged } from '../core/etag.ts';
import { targetOf } from '../core/request-target.ts';
import { frameOf, MISSING, searchContent } from './frame.ts';
import {
  DOC_PREFIXES,
  type DocFace,
  type DocPage,
  type DocPart,
  type Docs,
  EXAMPLE_NAME,
  EXAMPLE_URL,
  INDEX_TOPIC,
} from './page.ts';
import { createDocSearch } from './search.ts';

export type DocSiteOptions = {
  readonly part: DocPart;
  readonly docs: Docs;
  /** The public address of this server, which examples show. */
  readonly publicUrl: () => string;
  /** The customers' part alone: operators read about the program. The same object until it changes. */
  readonly face?: () => DocFace;
  /** What every response has, such as a content security policy. */
  readonly headers: () => Readonly<Record<string, string>>;
};

const HTML = 'text/html; charset=utf-8';
const REVALIDATED = 'no-cache';
const KEPT = 'public, max-age=31536000, immutable';

type Content = {
  readonly body: string;
  readonly type: string;
  readonly cache: string;
  readonly status?: number;
};

type Ready = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly cache: string;
  readonly status: number;
  readonly etag: string;
};

const PROGRAM: DocFace = { name: EXAMPLE_NAME, icon: undefined, colours: undefined };

export function createDocSite(options: DocSiteOptions) {
  const { part, docs, publicUrl, headers, face = () => PROGRAM } = options;
  const prefix = DOC_PREFIXES[part];
  const pages = docs.pages.filter((page) => page.part === part);
  const search = createDocSearch(pages);
  const byTopic = new Map(pages.map((page) => [page.topic, page]));
  const style = { name: `style-${tagOf(docs.style)}.css`, body: docs.style, type: 'text/css' };
  const icon = { name: `mark-${tagOf(docs.icon)}.svg`, body: docs.icon, type: 'image/svg+xml' };
  const files = new Map([style, icon].map((file) => [`assets/${file.name}`, file]));
  const frame = {
    part,
    pages,
    assets: { style: `${prefix}/assets/${style.name}`, icon: `${prefix}/assets/${icon.name}` },
  };
  let shown = face();

  /** With the address and the name of this service, unless the name would break an example. */
  function here(text: string): string {
    const local = text.replaceAll(EXAMPLE_URL, publicUrl());
    const isPlain = /^[\p{L}\p{N}][\p{L}\p{N} .-]*$/u.test(shown.name);
    return part === 'customers' && isPlain ? local.replaceAll(EXAMPLE_NAME, shown.name) : local;
  }

  function pageOf({ topic, title, html }: DocPage): Content {
    const body = frameOf({ ...frame, face: shown, title, topic, content: here(html) });
    return { body, type: HTML, cache: REVALIDATED };
  }

  function contentOf(path: string, url: URL): Content {
    const file = files.get(path);
    if (file !== undefined) return { body: file.body, type: file.type, cache: KEPT };
    if (path === 'search') {
      const query = url.searchParams.get('q') ?? '';
      const content = here(searchContent(query, search(query)));
      const body = frameOf({ ...frame, face: shown, title: 'Search', query, content });
      return { body, type: HTML, cache: 'no-store' };
    }
    const topic = path.replace(/\.md$/, '');
    const page =
      topic === INDEX_TOPIC && path === topic ? undefined : byTopic.get(topic || INDEX_TOPIC);
    if (page === undefined) {
      const body = frameOf({ ...frame, face: shown, title: 'Not found', content: MISSING });
      return { body, type: HTML, cache: 'no-store', status: 404 };
    }
    if (topic === path) return pageOf(page);
    return { body: here(page.markdown), type: 'text/markdown; charset=utf-8', cache: REVALIDATED };
  }

  /** Pages as they were sent last; there are only so many of them. */
  const ready = new Map<string, Ready>();
  let readyFor = publicUrl();

  function readyContent(path: string, url: URL): Ready {
    if (publicUrl() !== readyFor || face() !== shown) {
      readyFor = publicUrl();
      shown = face();
      ready.clear();
    }
    const known = ready.get(path);
    if (known !== undefined) return known;
    const { body, type, cache, status = 200 } = contentOf(path, url);
    const bytes = new TextEncoder().encode(body);
    const made: Ready = { bytes, type, cache, status, etag: `"${tagOf(body)}"` };
    if (status === 200 && path !== 'search') ready.set(path, made);
    return made;
  }

  return async (request: Request): Promise<Response> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return new Response(null, { status: 405, headers: { ...headers(), allow: 'GET, HEAD' } });
    }
    const url = targetOf(request);
    const path = url.pathname.slice(prefix.length + 1);
    if (url.pathname === `${prefix}/`) {
      return new Response(null, { status: 308, headers: { ...headers(), location: prefix } });
    }
    const { bytes, type, cache, status, etag } = readyContent(path, url);
    const sent = { ...headers(), 'cache-control': cache, ...(status === 200 ? { etag } : {}) };
    if (status === 200 && isUnchanged(request.headers, etag)) {
      return new Response(null, { status: 304, headers: sent });
    }
    return new Response(request.method === 'HEAD' ? null : bytes, {
      status,
      headers: { ...sent, 'content-type': type, 'content-length': String(bytes.byteLength) },
    });
  };
}

const tagOf = (text: string): string => Bun.hash(text).toString(36);
