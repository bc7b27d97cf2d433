// Serves the page and its files. The page is never cached; files are cached permanently, because
// their names contain a hash. Names are looked up in a table, never on disk. Nothing is read before
// the first visit.

import { brotliDecompressSync } from 'node:zlib';
import type { WebApp } from '../web-build.ts';
import { EMBEDDED } from './embedded.ts';

type HeaderValues = Readonly<Record<string, string>>;

export type PageFiles = {
  /** The HTML page. */
  readonly page: (request: Request, headers: HeaderValues) => Response | Promise<Response>;
  /** A file below `assets/`, or the page for every other path. */
  readonly serve: (request: Request, headers: HeaderValues) => Response | Promise<Response>;
};

/** The page, and a reader for files by name. */
type Web = {
  readonly page: string;
  readonly read: (name: string) => Promise<Uint8Array> | undefined;
};

export function createPageFiles(app: WebApp): PageFiles {
  let opened: Promise<Web> | undefined;

  /** A failed build is retried at the next visit. */
  function open(): Promise<Web> {
    opened ??= openWeb(app).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  }

  async function page(request: Request, headers: HeaderValues): Promise<Response> {
    const { page: text } = await open();
    return answer(request, text, {
      ...headers,
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
    });
  }

  async function serve(request: Request, headers: HeaderValues): Promise<Response> {
    const name = /^\/[a-z]+\/assets(?:\/(.*))?$/.exec(new URL(request.url).pathname);
    if (name === null) return page(request, headers);
    return (await asset(request, headers, name[1] ?? '')) ?? missing(request, headers);
  }

  async function asset(
    request: Request,
    headers: HeaderValues,
    name: string,
  ): Promise<Response | undefined> {
    const reading = (await open()).read(name);
    if (reading === undefined) return undefined;
    const brotli = acceptsBrotli(request.headers.get('accept-encoding'));
    const etag = brotli ? `"${name}-br"` : `"${name}"`;
    const kept = {
      ...headers,
      'cache-control': 'public, max-age=31536000, immutable',
      etag,
      vary: 'accept-encoding',
    };
    if (isKnown(request.headers.get('if-none-match'), etag)) {
      return new Response(null, { status: 304, headers: kept });
    }
    const compressed = await reading;
    return answer(request, brotli ? compressed : brotliDecompressSync(compressed), {
      ...kept,
      ...(brotli ? { 'content-encoding': 'br' } : {}),
      'content-type': contentType(name),
    });
  }

  return { page, serve };
}

/** Compression quality when running from source: requests wait for it. */
const QUICKLY = 4;

async function openWeb(app: WebApp): Promise<Web> {
  const embedded = EMBEDDED?.[app];
  if (embedded !== undefined) {
    const paths = new Map(Object.entries(embedded.files));
    return {
      page: embedded.page,
      read(name) {
        const path = paths.get(name);
        return path === undefined ? undefined : Bun.file(path).bytes();
      },
    };
  }
  const { buildWeb } = await import('../web-build.ts');
  const { page, files } = await buildWeb(app, QUICKLY);
  const bytes = new Map(Object.entries(files));
  return {
    page,
    read(name) {
      const found = bytes.get(name);
      return found === undefined ? undefined : Promise.resolve(found);
    },
  };
}

function answer(request: Request, body: string | Uint8Array, headers: HeaderValues): Response {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return new Response(request.method === 'HEAD' ? null : Buffer.from(bytes), {
    headers: { ...headers, 'content-length': String(bytes.byteLength) },
  });
}

function missing(request: Request, headers: HeaderValues): Response {
  const text = 'File not found. Reload the page: the server was updated.\n';
  const response = answer(request, text, {
    ...headers,
    'cache-control': 'no-store',
    'content-type': 'text/plain; charset=utf-8',
  });
  return new Response(response.body, { status: 404, headers: response.headers });
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

function contentType(name: string): string {
  const extension = name.slice(name.lastIndexOf('.') + 1);
  return CONTENT_TYPES[extension] ?? 'application/octet-stream';
}

/** Whether `br` is accepted with a nonzero weight. */
function acceptsBrotli(accepted: string | null): boolean {
  const row = (accepted ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .find((coding) => /^br(?:\s*;|$)/.test(coding));
  return row !== undefined && !/;\s*q=0(?:\.0*)?$/.test(row);
}

function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  return (ifNoneMatch ?? '')
    .split(',')
    .some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}
