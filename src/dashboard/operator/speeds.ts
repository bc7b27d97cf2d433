// Latency percentiles and failure classes over time, of an upstream or of a model at all of them.

import { Type } from '@sinclair/typebox';
import { createSpeedReader } from '../../ledger/series/speeds.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { notFound } from '../edge/error.ts';
import { type OperatorRoutes, scopedRoute } from '../edge/route.ts';
import { PERIOD_QUERY, readPeriod } from '../period.ts';
import { speedsAnswer } from '../records/speeds.ts';
import { speedsRecord } from '../speeds.ts';

export function speedRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { store, catalog, clock } = dependencies;
  const readSpeeds = createSpeedReader(store.database);
  return [
    scopedRoute({
      method: 'GET',
      path: '/upstreams/:id/speeds',
      quiet: true,
      name: 'get_upstream_speeds',
      scope: 'service:read',
      summary: 'Returns how fast an upstream was and how it failed. Give days, a month, or a span.',
      query: {
        ...PERIOD_QUERY,
        model: Type.Optional(
          Type.String({ minLength: 1, maxLength: 64, description: 'The slug of one model.' }),
        ),
      },
      answer: speedsAnswer,
      async handle({ param, query }) {
        if (!catalog().upstreams.has(param('id'))) throw notFound('upstream');
        const period = readPeriod(query, clock());
        const { edges } = period;
        const subject = `upstream:${param('id')}`;
        return speedsRecord(period, await readSpeeds({ subject, edges, model: query.model }));
      },
    }),
    scopedRoute({
      method: 'GET',
      path: '/models/:id/speeds',
      quiet: true,
      name: 'get_model_speeds',
      scope: 'service:read',
      summary: 'Returns how fast a model was and how it failed. Give days, a month, or a span.',
      query: PERIOD_QUERY,
      answer: speedsAnswer,
      async handle({ param, query }) {
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
