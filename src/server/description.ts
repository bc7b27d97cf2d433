// Serves the description of the API at /openapi.json. Made at the first request, and revalidated by its
// ETag.

import { publicUrl } from '../config/urls.ts';
import { isUnchanged } from '../core/etag.ts';
import { securityHeaders } from '../dashboard/edge/respond.ts';
import type { Mount } from '../http/exchange.ts';
import { VERSION } from '../version.ts';
import type { PageMountOptions } from './docs.ts';
import { lazyMount } from './lazy-app.ts';

export function createServingDescription(options: PageMountOptions): Mount {
  const { config, observation, port } = options;
  return lazyMount(
    async () => {
      const { createDocument } = await import('../openapi/document.ts');
      const document = createDocument({ version: VERSION, url: publicUrl(config, port()) });
      const bytes = new TextEncoder().encode(JSON.stringify(document));
      const etag = `"${Bun.hash(bytes).toString(36)}"`;
      const headers = {
        ...securityHeaders(config.baseUrl?.startsWith('https:') ?? false),
        'cache-control': 'no-cache',
        etag,
      };
      return async ({ headers: asked }: Request) => {
        if (isUnchanged(asked, etag)) return new Response(null, { status: 304, headers });
        return new Response(bytes, {
          headers: { ...headers, 'content-type': 'application/json' },
        });
      };
    },
    (error) => observation.log.error('the description of the API could not be made', error),
  );
}
