// Serves the description of the API at /openapi.json. Made at the first request, and revalidated by its
// ETag.

import { isUnchanged } from '../core/etag.ts';
import type { Mount } from '../http/exchange.ts';
import { VERSION } from '../version.ts';
import { type PageMountOptions, pageMounts } from './lazy-app.ts';

export function createServingDescription(options: PageMountOptions): Mount {
  const pages = pageMounts(options, 'the description of the API could not be made');
  return pages.mount(async () => {
    const { createDocument } = await import('../openapi/document.ts');
    const offersResponses = options.config.responsesFormat === 'on';
    const document = createDocument({ version: VERSION, url: pages.url(), offersResponses });
    const bytes = new TextEncoder().encode(JSON.stringify(document));
    const etag = `"${Bun.hash(bytes).toString(36)}"`;
    const headers = { ...pages.headers(), 'cache-control': 'no-cache', etag };
    return async ({ headers: asked }: Request) => {
      if (isUnchanged(asked, etag)) return new Response(null, { status: 304, headers });
      return new Response(bytes, { headers: { ...headers, 'content-type': 'application/json' } });
    };
  });
}
