// Serves the description of the API at /openapi.json, with a model of the catalog in its examples. Made at
// the first request, and revalidated by its ETag.

import { isUnchanged } from '../core/etag.ts';
import type { Catalog } from '../core/model.ts';
import { withModels } from '../docs/models.ts';
import type { Mount } from '../http/exchange.ts';
import { VERSION } from '../version.ts';
import { type PageMountOptions, pageMounts } from './lazy-app.ts';

export type ServingDescriptionOptions = PageMountOptions & { readonly catalog: () => Catalog };

export function createServingDescription(options: ServingDescriptionOptions): Mount {
  const { catalog } = options;
  const pages = pageMounts(options, 'the description of the API could not be made');
  return pages.mount(async () => {
    const { createDocument } = await import('../openapi/document.ts');
    const offersResponses = options.config.responsesFormat === 'on';
    const about = { version: VERSION, url: pages.url(), offersResponses };
    const document = JSON.stringify(createDocument(about));

    function madeFor({ models }: Catalog) {
      const bytes = new TextEncoder().encode(withModels(document, [], models));
      return { models, bytes, etag: `"${Bun.hash(bytes).toString(36)}"` };
    }

    let made = madeFor(catalog());
    return async ({ headers: asked }: Request) => {
      if (catalog().models !== made.models) made = madeFor(catalog());
      const { bytes, etag } = made;
      const headers = { ...pages.headers(), 'cache-control': 'no-cache', etag };
      if (isUnchanged(asked, etag)) return new Response(null, { status: 304, headers });
      return new Response(bytes, { headers: { ...headers, 'content-type': 'application/json' } });
    };
  });
}
