// Latency percentiles and failure classes over time, of an upstream or of a model at all of them.

import { Type } from '@sinclair/typebox';
import { createSpeedReader } from '../../ledger/series/speeds.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { notFound } from '../edge/error.ts';
import { type OperatorRoutes, viewRoute } from '../edge/route.ts';
import { PERIOD_QUERY, readPeriod } from '../period.ts';
import type { SpeedsRecord } from '../records/speeds.ts';
import { speedsRecord } from '../speeds.ts';

export function speedRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { store, catalog, clock } = dependencies;
  const readSpeeds = createSpeedReader(store.database);
  return [
    viewRoute({
      path: '/upstreams/:id/speeds',
      quiet: true,
      query: {
        ...PERIOD_QUERY,
        model: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      },
      async handle({ param, query }): Promise<SpeedsRecord> {
        if (!catalog().upstreams.has(param('id'))) throw notFound('upstream');
        const period = readPeriod(query, clock());
        const { edges } = period;
        const subject = `upstream:${param('id')}`;
        return speedsRecord(period, await readSpeeds({ subject, edges, model: query.model }));
      },
    }),
    viewRoute({
      path: '/models/:id/speeds',
      quiet: true,
      query: PERIOD_QUERY,
      async handle({ param, query }): Promise<SpeedsRecord> {
        const model = catalog().resolve(param('id'))?.slug;
        if (model === undefined) throw notFound('model');
        const period = readPeriod(query, clock());
        const { edges } = period;
        const cells = [];
        for (const id of catalog().upstreams.keys()) {
          cells.push(...(await readSpeeds({ subject: `upstream:${id}`, edges, model })));
        }
        return speedsRecord(period, cells);
      },
    }),
  ];
}
