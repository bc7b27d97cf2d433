// The catalog in the console: the active version, the error of a rejected one, a check of the file,
// and reload. The text itself is in catalog-text.ts.

import { loadFound } from '../../catalog/live.ts';
import { isoTime } from '../../core/calendar.ts';
import { auditChange } from '../../identity/audit.ts';
import { checkCatalog, digestOnDisk } from '../../operations/catalog.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { type OperatorRoutes, sessionRoute, stepUpRoute, viewRoute } from '../edge/route.ts';
import { changeOf } from './dependencies.ts';

export function catalogRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { machine, clock, store } = dependencies;
  return [
    viewRoute({
      path: '/catalog',
      handle: () => catalogRecord(dependencies),
    }),
    sessionRoute({
      method: 'POST',
      path: '/catalog/check',
      permission: 'view',
      handle: () =>
        checkRecord(checkCatalog(() => loadFound(machine.findCatalog(), clock()), clock())),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/catalog/reload',
      permission: 'service.manage',
      async handle({ actor }) {
        const change = changeOf(dependencies, actor);
        await store.database.transaction(async () => {
          await auditChange(change, 'catalog.reload_requested', 'catalog');
        });
        await dependencies.reloadCatalog();
        return catalogRecord(dependencies);
      },
    }),
  ];
}

export function checkRecord(check: ReturnType<typeof checkCatalog>) {
  return { ok: check.ok, digest: check.ok ? check.digest : null, problems: check.problems };
}

export function catalogRecord(dependencies: MachineDependencies) {
  const { catalogStatus, catalog, machine } = dependencies;
  const { version, origin, path, digest, loadedAt, refused } = catalogStatus();
  const { models, upstreams, plans } = catalog();
  return {
    version,
    origin,
    path: path ?? null,
    digest,
    /** Of the current file; null if unreadable. */
    digest_on_disk: digestOnDisk(machine.findCatalog),
    loaded_at: isoTime(loadedAt),
    models: models.length,
    upstreams: upstreams.size,
    plans: plans.size,
    refused: refused === undefined ? null : { at: isoTime(refused.at), problems: refused.problems },
  };
}
