// Serves the documentation: the customers' part on the public listener, the operators' part in the
// console. Loaded at the first visit of either.

import { publicUrl } from '../config/urls.ts';
import { securityHeaders } from '../dashboard/edge/respond.ts';
import type { DocPart } from '../docs/page.ts';
import type { Mount } from '../http/exchange.ts';
import type { Base } from './base.ts';
import { lazyMount } from './lazy-app.ts';
import type { Observation } from './observation.ts';

export type ServingDocsOptions = Pick<Base, 'config'> & {
  readonly observation: Pick<Observation, 'log'>;
  /** The actual port of the public listener. */
  readonly port: () => number;
};

export function createServingDocs(options: ServingDocsOptions): Readonly<Record<DocPart, Mount>> {
  const { config, observation, port } = options;
  const isHttps = config.baseUrl?.startsWith('https:') ?? false;

  const mount = (part: DocPart): Mount =>
    lazyMount(
      async () => {
        const [{ createDocSite }, { loadDocs }] = await Promise.all([
          import('../docs/site.ts'),
          import('../docs/load.ts'),
        ]);
        return createDocSite({
          part,
          docs: await loadDocs(),
          publicUrl: () => publicUrl(config, port()),
          headers: () => securityHeaders(isHttps),
        });
      },
      (error) => observation.log.error('the documentation could not be shown', error),
    );

  return { customers: mount('customers'), operators: mount('operators') };
}
