// Serves one part of the documentation: pages, their Markdown, the search, and three files. Pages carry
// an ETag and are revalidated; files change their name with their content and are kept for good.

import { brotliCompressSync, constants } from 'node:zlib';
import { acceptsBrotli } from '../core/accept-encoding.ts';
import { isUnchanged } from '../core/etag.ts';
import type { ModelFeature } from '../core/model.ts';
import { targetOf } from '../core/request-target.ts';
import { frameOf, KEY_MARK, keyNote, MISSING, searchContent } from './frame.ts';
import { type ShownModel, withModels } from './models.ts';
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
  /** Those of this service, which examples name. The same array until it changes. */
  readonly models: () => readonly ShownModel[];
  /** A key of the reader who is signed in, for the customers' part. */
  readonly maskedKeyOf?: (headers: Headers) => Promise<string | undefined>;
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

type Ready = Content & {
  readonly etag: string;
  /** With places for a key of the reader; undefined without any. */
  readonly marked: string | undefined;
  /** What was sent last with each coding. */
  readonly bytes: Map<Coding, Uint8Array<ArrayBuffer>>;
};

type Coding = 'br' | 'identity';

/** Halfway to the best: a page is compressed once, and its reader waits for it. */
const QUALITY = 6;

/** A page with a reader's key is compressed for each visit. */
const QUALITY_ONCE = 1;

/** For all paths that do not exist, so that strangers cannot have page after page rendered. */
const NOWHERE = '/';

const PROGRAM: DocFace = { name: EXAMPLE_NAME, icon: undefined, colours: undefined };

export function createDocSite(options: DocSiteOptions) {
  const { part, docs, publicUrl, models, headers, face = () => PROGRAM, maskedKeyOf } = options;
  const prefix = DOC_PREFIXES[part];
  const pages = docs.pages.filter((page) => page.part === part);
  const search = createDocSearch(pages);
  const byTopic = new Map(pages.map((page) => [page.topic, page]));
  const style = { name: `style-${tagOf(docs.style)}.css`, body: docs.style, type: 'text/css' };
  const script = {
    name: `page-${tagOf(docs.script)}.js`,
    body: docs.script,
    type: 'text/javascript',
  };
  const icon = { name: `mark-${tagOf(docs.icon)}.svg`, body: docs.icon, type: 'image/svg+xml' };
  const files = new Map([style, script, icon].map((file) => [`assets/${file.name}`, file]));
  const frame = {
    part,
    pages,
    assets: {
      style: `${prefix}/assets/${style.name}`,
      script: `${prefix}/assets/${script.name}`,
      icon: `${prefix}/assets/${icon.name}`,
    },
  };
  let shown = face();

  /** With the address, the models and the name of this service, unless the name would break an example. */
  function here(text: string, features: readonly ModelFeature[] = []): string {
    const addressed = text.replaceAll(EXAMPLE_URL, publicUrl());
    const local = part === 'customers' ? withModels(addressed, features, models()) : addressed;
    const isPlain = /^[\p{L}\p{N}][\p{L}\p{N} .-]*$/u.test(shown.name);
    return part === 'customers' && isPlain ? local.replaceAll(EXAMPLE_NAME, shown.name) : local;
  }

  function pageOf({ topic, title, html, features }: DocPage): Content {
    const content = here(html, features);
    const body = frameOf({ ...frame, face: shown, title, topic, content });
    return { body, type: HTML, cache: REVALIDATED };
  }

  function pageAt(path: string): DocPage | undefined {
    if (path === INDEX_TOPIC) return undefined;
    return byTopic.get(path.replace(/\.md$/, '') || INDEX_TOPIC);
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
    const page = pageAt(path);
    if (page === undefined) {
      const body = frameOf({ ...frame, face: shown, title: 'Not found', content: MISSING });
      return { body, type: HTML, cache: 'no-store', status: 404 };
    }
    if (!path.endsWith('.md')) return pageOf(page);
    const body = here(page.markdown, page.features);
    return { body, type: 'text/markdown; charset=utf-8', cache: REVALIDATED };
  }

  /** Pages for strangers as they were sent last; there are only so many of them. */
  const ready = new Map<string, Ready>();
  let readyFor = { url: publicUrl(), models: models() };

  function readyContent(asked: string, url: URL): Ready {
    if (publicUrl() !== readyFor.url || models() !== readyFor.models || face() !== shown) {
      readyFor = { url: publicUrl(), models: models() };
      shown = face();
      ready.clear();
    }
    const exists = files.has(asked) || asked === 'search' || pageAt(asked) !== undefined;
    const path = exists ? asked : NOWHERE;
    const known = ready.get(path);
    if (known !== undefined) return known;
    const content = contentOf(path, url);
    const marked = content.body.includes(KEY_MARK) ? content.body : undefined;
    const made = { ...withBody(content, content.body.replaceAll(KEY_MARK, '')), marked };
    if (path !== 'search') ready.set(path, made);
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
    // A search has no place for a key and waits for nothing, so that its caller can time it.
    const strangers = readyContent(path, url);
    const { marked } = strangers;
    const key = marked === undefined ? undefined : await maskedKeyOf?.(request.headers);
    const page =
      marked === undefined || key === undefined
        ? strangers
        : withBody(strangers, marked.replaceAll(KEY_MARK, keyNote(key)));
    const { type, status = 200 } = page;
    const coding = acceptsBrotli(request.headers.get('accept-encoding')) ? 'br' : 'identity';
    const etag = `"${page.etag}${coding === 'br' ? '-br' : ''}"`;
    const sent = {
      ...headers(),
      'cache-control': key === undefined ? page.cache : `private, ${page.cache}`,
      vary: 'accept-encoding, cookie',
      ...(status === 200 ? { etag } : {}),
    };
    if (status === 200 && isUnchanged(request.headers, etag)) {
      return new Response(null, { status: 304, headers: sent });
    }
    const bytes = encoded(page, coding, page === strangers ? QUALITY : QUALITY_ONCE);
    return new Response(request.method === 'HEAD' ? null : bytes, {
      status,
      headers: {
        ...sent,
        ...(coding === 'br' ? { 'content-encoding': coding } : {}),
        'content-type': type,
        'content-length': String(bytes.byteLength),
      },
    });
  };
}

function withBody(content: Content, body: string): Ready {
  return { ...content, body, etag: tagOf(body), marked: undefined, bytes: new Map() };
}

function encoded({ body, bytes }: Ready, coding: Coding, quality: number): Uint8Array<ArrayBuffer> {
  const known = bytes.get(coding);
  if (known !== undefined) return known;
  const plain = new TextEncoder().encode(body);
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
  const made = coding === 'br' ? new Uint8Array(brotliCompressSync(plain, { params })) : plain;
  bytes.set(coding, made);
  return made;
}

const tagOf = (text: string): string => Bun.hash(text).toString(36);
