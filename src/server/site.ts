// Serves the pages for strangers on the public listener. Loaded at the first visit.

import { publicUrl } from '../config/urls.ts';
import { securityHeaders } from '../dashboard/edge/respond.ts';
import type { Mount } from '../http/exchange.ts';
import type { Base } from './base.ts';
import type { PageMountOptions } from './docs.ts';
import type { Domains } from './domains.ts';
import { lazyMount } from './lazy-app.ts';

export type ServingSiteOptions = PageMountOptions &
  Pick<Base, 'clock'> & { readonly domains: Pick<Domains, 'live'> };

export function createServingSite(options: ServingSiteOptions): Mount {
  const { config, clock, observation, port, domains } = options;
  const isHttps = config.baseUrl?.startsWith('https:') ?? false;
  return lazyMount(
    async () => {
      const [{ createPublicSite }, { loadCatalogues, loadWeb }] = await Promise.all([
        import('../dashboard/public/site.ts'),
        import('../dashboard/edge/load.ts'),
      ]);
      return createPublicSite({
        catalog: domains.live.current,
        catalogues: await loadCatalogues(),
        web: await loadWeb('customer'),
        baseUrl: () => publicUrl(config, port()),
        maySignUp: config.signUp === 'open',
        headers: () => securityHeaders(isHttps),
        clock,
      });
    },
    (error) => observation.log.error('the pages for strangers could not be shown', error),
  );
}
