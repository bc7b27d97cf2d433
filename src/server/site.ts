// Serves the pages for strangers on the public listener. Loaded at the first visit.

import type { Mount } from '../http/exchange.ts';
import type { Base } from './base.ts';
import type { Domains } from './domains.ts';
import { type PageMountOptions, pageMounts } from './lazy-app.ts';

export type ServingSiteOptions = PageMountOptions &
  Pick<Base, 'clock'> & { readonly domains: Pick<Domains, 'live'> };

export function createServingSite(options: ServingSiteOptions): Mount {
  const { config, clock, domains } = options;
  const { url, headers, mount } = pageMounts(options, 'the pages for strangers could not be shown');
  return mount(async () => {
    const [{ createPublicSite }, { loadCatalogues, loadWeb }] = await Promise.all([
      import('../dashboard/public/site.ts'),
      import('../dashboard/edge/load.ts'),
    ]);
    return createPublicSite({
      catalog: domains.live.current,
      catalogues: await loadCatalogues(),
      web: await loadWeb('customer'),
      baseUrl: url,
      maySignUp: config.signUp === 'open',
      offersResponses: config.responsesFormat === 'on',
      headers,
      clock,
    });
  });
}
