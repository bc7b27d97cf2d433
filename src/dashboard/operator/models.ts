// Models in the console: upstreams, prices, sales of the last day, and the lower limits of an
// incident.

import { Type } from '@sinclair/typebox';
import { HOUR_MS } from '../../ledger/series/figures.ts';
import { createModelSeriesReader, type ModelFigures } from '../../ledger/series/models.ts';
import { clearIncident, incidentRecord, setIncident } from '../../operations/incidents.ts';
import { operatorModelRecord } from '../../operations/operator-model.ts';
import type { MachineDependencies } from '../dependencies.ts';
import type { List } from '../edge/page.ts';
import { type OperatorRoutes, scopedRoute, viewRoute } from '../edge/route.ts';
import { modelNames } from '../model-names.ts';
import type { ModelNameRecord } from '../records/model.ts';
import { incidentAnswer, modelsAnswer } from '../records/operator-model.ts';
import { nothing } from '../records/schema.ts';
import { changeOf } from './dependencies.ts';

const limit = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 999_999_999, description }));
const DAY_HOURS = 24;

export function modelRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { store, catalog, clock } = dependencies;
  const readSeries = createModelSeriesReader(store.database);

  async function lastDay(by: 'model' | 'requested'): Promise<ReadonlyMap<string, ModelFigures>> {
    const untilMs = (Math.floor(clock() / HOUR_MS) + 1) * HOUR_MS;
    const { cells } = await readSeries([untilMs - DAY_HOURS * HOUR_MS, untilMs], by);
    return new Map(cells.map(({ group, figures }) => [group, figures]));
  }

  return [
    viewRoute({
      path: '/model-names',
      handle: (): List<ModelNameRecord> => modelNames(catalog().models),
    }),
    scopedRoute({
      method: 'GET',
      path: '/models',
      quiet: true,
      name: 'list_models',
      scope: 'service:read',
      summary: 'Returns all models with their upstreams, prices, incidents and the last day.',
      answer: modelsAnswer,
      async handle() {
        const used = await lastDay('model');
        const requested = await lastDay('requested');
        const current = catalog();
        const incidents = (await store.incidents.list()).map(incidentRecord);
        const states = dependencies.upstreams();
        const models = current.models.map((model) =>
          operatorModelRecord(current, model, {
            incident: incidents.find((each) => each.model === model.slug) ?? null,
            states,
            used: used.get(model.slug),
            requested: requested.get(model.slug)?.requests ?? 0,
            nowMs: clock(),
          }),
        );
        return {
          models,
          forgotten: incidents.filter(({ model }) => current.resolve(model) === undefined),
        };
      },
    }),
    scopedRoute({
      method: 'PUT',
      path: '/models/:id/incident',
      name: 'set_incident',
      scope: 'service:write',
      summary: 'Lowers the limits of a model for all accounts during an incident.',
      body: {
        requests_per_minute: limit('Requests per minute of an account.'),
        tokens_per_minute: limit('Tokens per minute of an account.'),
        concurrent_requests: limit('Requests of an account at the same time.'),
        reason: Type.String({ maxLength: 200, description: 'Kept with the incident.' }),
      },
      answer: incidentAnswer,
      codes: ['no_limits'],
      example: { requests_per_minute: 10, reason: 'upstream is slow' },
      async handle({ param, body, actor }) {
        const limits = {
          ...(body.requests_per_minute && { requestsPerMinute: body.requests_per_minute }),
          ...(body.tokens_per_minute && { tokensPerMinute: body.tokens_per_minute }),
          ...(body.concurrent_requests && { concurrentRequests: body.concurrent_requests }),
        };
        const change = changeOf(dependencies, actor);
        return incidentRecord(
          await setIncident(change, catalog(), param('id'), limits, body.reason),
        );
      },
    }),
    scopedRoute({
      method: 'DELETE',
      path: '/models/:id/incident',
      name: 'clear_incident',
      scope: 'service:write',
      summary: 'Ends an incident of a model.',
      answer: nothing,
      async handle({ param, actor }) {
        await clearIncident(changeOf(dependencies, actor), catalog, param('id'));
      },
    }),
  ];
}
