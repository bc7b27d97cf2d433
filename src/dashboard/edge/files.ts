// Serves the page and its files. The page is never cached; files are cached permanently, because
// their names contain a hash. Names are looked up in a table, never on disk. Nothing is read before
// the first visit.

import { brotliDecompressSync } from 'node:zlib';
import { acceptsBrotli } from '../../core/accept-encoding.ts';
import { isUnchanged } from '../../core/etag.ts';
import { targetOf } from '../../core/request-target.ts';
import type { Service } from '../../core/service.ts';
import { chooseLanguage } from '../texts/language.ts';
import type { WebApp } from '../web-build.ts';
import { loadWeb, type Web } from './load.ts';
import {
  createServiceFiles,
  SERVICE_MARK,
  type ServiceFiles,
  serviceHead,
} from './service-files.ts';

const KEPT = { 'cache-control': 'public, max-age=31536000, immutable' };

type HeaderValues = Readonly<Record<string, string>>;

export type PageFiles = {
  /** The HTML page. */
  readonly page: (request: Request, headers: HeaderValues) => Response | Promise<Response>;
  /** A file below `assets/`, or the page for every other path. */
  readonly serve: (request: Request, headers: HeaderValues) => Response | Promise<Response>;
};

export function createPageFiles(app: WebApp, service: () => Service): PageFiles {
  let opened: Promise<Web> | undefined;
  let own: { readonly service: Service; readonly files: ServiceFiles } | undefined;

  /** The files of the service as the catalog has it now. */
  function ownFiles(): ServiceFiles {
    const current = service();
    if (own?.service !== current)
      own = { service: current, files: createServiceFiles(current, app) };
    return own.files;
  }

  const plain = new Map<string, Uint8Array>();

  /** A failed build is retried at the next visit. */
  function open(): Promise<Web> {
    opened ??= loadWeb(app).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  }

  async function page(request: Request, headers: HeaderValues): Promise<Response> {
    const { pages, icon } = await open();
    const language = chooseLanguage(request.headers, service().languages);
    const head = serviceHead(ownFiles(), icon);
    return answer(
      request,
      pages[language].replace(SERVICE_MARK, () => head),
      {
        ...headers,
        'cache-control': 'no-store',
        'content-language': language,
        'content-type': 'text/html; charset=utf-8',
      },
    );
  }

  async function serve(request: Request, headers: HeaderValues): Promise<Response> {
    const { pathname } = targetOf(request);
    const [, folder, name = ''] = /^\/[a-z]+\/(assets|service)(?:\/(.*))?$/.exec(pathname) ?? [];
    if (folder === undefined) return page(request, headers);
    const found =
      folder === 'assets' ? await asset(request, headers, name) : ownFile(request, headers, name);
    return found ?? missing(request, headers);
  }

  function ownFile(request: Request, headers: HeaderValues, name: string): Response | undefined {
    const file = ownFiles().read(name);
    return file && answer(request, file.body, { ...headers, ...KEPT, ...file.headers });
  }

  /** Kept, because a stranger may ask for it any number of times. */
  function plainOf(name: string, compressed: Uint8Array): Uint8Array {
    const bytes = plain.get(name) ?? brotliDecompressSync(compressed);
    plain.set(name, bytes);
    return bytes;
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
      ...KEPT,
      etag,
      vary: 'accept-encoding',
    };
    if (isUnchanged(request.headers, etag)) {
      return new Response(null, { status: 304, headers: kept });
    }
    const compressed = await reading;
    return answer(request, brotli ? compressed : plainOf(name, compressed), {
      ...kept,
      ...(brotli ? { 'content-encoding': 'br' } : {}),
      'content-type': contentType(name),
    });
  }

  return { page, serve };
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
