// Serves the documentation: the customers' part on the public listener, the operators' part in the
// console. Loaded at the first visit of either.

import type { Service } from '../core/service.ts';
import { createServiceFiles } from '../dashboard/edge/service-files.ts';
import type { DocFace, DocPart } from '../docs/page.ts';
import type { Mount } from '../http/exchange.ts';
import { type PageMountOptions, pageMounts } from './lazy-app.ts';

export type ServingDocsOptions = PageMountOptions & {
  readonly service: () => Service;
  /** Whether a request has the session of a customer. */
  readonly isCustomer: (headers: Headers) => Promise<boolean>;
};

export function createServingDocs(options: ServingDocsOptions): Readonly<Record<DocPart, Mount>> {
  const { service, isCustomer } = options;
  const { url, headers, mount } = pageMounts(options, 'the documentation could not be shown');

  const mountPart = (part: DocPart): Mount =>
    mount(async () => {
      const [{ createDocSite }, { loadDocs }] = await Promise.all([
        import('../docs/site.ts'),
        import('../docs/load.ts'),
      ]);
      const face = part === 'customers' ? { face: faceOf(service) } : {};
      return createDocSite({ part, docs: await loadDocs(), publicUrl: url, headers, ...face });
    });

  const customers = mountPart('customers');
  return {
    operators: mountPart('operators'),
    async customers(request, server) {
      if (service().isPublic.docs || (await isCustomer(request.headers))) {
        return customers(request, server);
      }
      const location = '/dashboard/sign-in';
      return new Response(null, { status: 303, headers: { ...headers(), location } });
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
