// Serves the documentation: the customers' part on the public listener, the operators' part in the
// console. Loaded at the first visit of either.

import { publicUrl } from '../config/urls.ts';
import type { Service } from '../core/service.ts';
import { securityHeaders } from '../dashboard/edge/respond.ts';
import { createServiceFiles } from '../dashboard/edge/service-files.ts';
import type { DocFace, DocPart } from '../docs/page.ts';
import type { Mount } from '../http/exchange.ts';
import type { Base } from './base.ts';
import { lazyMount } from './lazy-app.ts';
import type { Observation } from './observation.ts';

export type PageMountOptions = Pick<Base, 'config'> & {
  readonly observation: Pick<Observation, 'log'>;
  /** The actual port of the public listener. */
  readonly port: () => number;
};

export type ServingDocsOptions = PageMountOptions & {
  readonly service: () => Service;
  /** Whether a request has the session of a customer. */
  readonly isCustomer: (headers: Headers) => Promise<boolean>;
};

export function createServingDocs(options: ServingDocsOptions): Readonly<Record<DocPart, Mount>> {
  const { config, observation, port, service, isCustomer } = options;
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
          ...(part === 'customers' ? { face: faceOf(service) } : {}),
        });
      },
      (error) => observation.log.error('the documentation could not be shown', error),
    );

  const customers = mount('customers');
  return {
    operators: mount('operators'),
    async customers(request, server) {
      if (service().isPublic.docs || (await isCustomer(request.headers))) {
        return customers(request, server);
      }
      const headers = { ...securityHeaders(isHttps), location: '/dashboard/sign-in' };
      return new Response(null, { status: 303, headers });
    },
  };
}

/** The same object until the service changes. */
function faceOf(service: () => Service): () => DocFace {
  let known: { readonly service: Service; readonly face: DocFace } | undefined;
  return () => {
    const current = service();
    if (known?.service !== current) {
      const { record, colours } = createServiceFiles(current, 'customer');
      const face = { name: record.name, icon: record.logo ?? undefined, colours };
      known = { service: current, face };
    }
    return known.face;
  };
}
