// Serves the documentation: the customers' part on the public listener, the operators' part in the
// console. Loaded at the first visit of either.

import type { Catalog } from '../core/model.ts';
import { targetOf } from '../core/request-target.ts';
import type { Service } from '../core/service.ts';
import type { DashboardApp } from '../dashboard/edge/app.ts';
import { createServiceFiles } from '../dashboard/edge/service-files.ts';
import type { DocFace, DocPart } from '../docs/page.ts';
import { createMinuteBudgets } from '../generate/minute-budget.ts';
import type { Mount } from '../http/exchange.ts';
import { type PageMountOptions, pageMounts } from './lazy-app.ts';

const SEARCH_MS_PER_MINUTE = 3_000;

export type ServingDocsOptions = PageMountOptions & {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly catalog: () => Catalog;
  /** Whether a request has the session of a customer. */
  readonly isCustomer: (headers: Headers) => Promise<boolean>;
  /** The newest active key of the customer whose session a request has, masked. */
  readonly maskedKeyOf: (headers: Headers) => Promise<string | undefined>;
};

export function createServingDocs(options: ServingDocsOptions): Readonly<Record<DocPart, Mount>> {
  const { catalog, isCustomer, maskedKeyOf } = options;
  const service = () => catalog().service;
  const { url, headers, mount } = pageMounts(options, 'the documentation could not be shown');

  const mountPart = (part: DocPart): Mount =>
    mount(async () => {
      const [{ createDocSite }, { loadDocs }] = await Promise.all([
        import('../docs/site.ts'),
        import('../docs/load.ts'),
      ]);
      const own = part === 'customers' ? { face: faceOf(service), maskedKeyOf } : {};
      const site = createDocSite({
        part,
        docs: await loadDocs(),
        publicUrl: url,
        models: () => catalog().models,
        headers,
        ...own,
      });
      return boundSearch(site, options.monotonic, headers);
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

/**
 * Searches of all networks take at most a twentieth of the event loop. Each is charged the time of
 * the one before, because its own is not known before it ran.
 */
export function boundSearch(
  site: DashboardApp,
  monotonic: () => number,
  headers: () => Readonly<Record<string, string>>,
): DashboardApp {
  const budget = createMinuteBudgets(monotonic);
  let lastMs = 0;
  return async (request, server) => {
    if (!targetOf(request).pathname.endsWith('/search')) return site(request, server);
    const seconds = budget.claim('searches', SEARCH_MS_PER_MINUTE, lastMs);
    if (seconds !== undefined) {
      const message = `Too many searches at once. Try again in ${seconds} seconds.`;
      const sent = { ...headers(), 'cache-control': 'no-store', 'retry-after': String(seconds) };
      return new Response(message, { status: 429, headers: sent });
    }
    const startedAt = monotonic();
    const response = site(request, server);
    lastMs = monotonic() - startedAt;
    return response;
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
