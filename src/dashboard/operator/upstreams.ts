// Upstreams in the console: state, recent failures, and taking one out of service, wholly or for one
// model. Never shows an upstream's key.

import { Type } from '@sinclair/typebox';
import type { UpstreamMinute } from '../../core/activity.ts';
import { isoTime } from '../../core/calendar.ts';
import { placeState, type UpstreamState, upstreamState } from '../../core/health.ts';
import type { Catalog } from '../../core/model.ts';
import { listWords, wordsRecord } from '../../operations/upstream-words.ts';
import {
  disabledPlaces,
  disablePlace,
  enablePlace,
  placeRecord,
  resetUpstream,
} from '../../operations/upstreams.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { notFound } from '../edge/error.ts';
import { type OperatorRoutes, scopedRoute } from '../edge/route.ts';
import { upstreamDetailAnswer, upstreamsAnswer } from '../records/operator-server.ts';
import { nothing } from '../records/schema.ts';
import { changeOf } from './dependencies.ts';

const MINUTES = 60;
const PLACE = {
  model: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Only this model there.' }),
  ),
};

type Disabled = Awaited<ReturnType<typeof disabledPlaces>>;

export function upstreamRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { store, catalog, machine } = dependencies;
  const { activity } = machine;

  async function read() {
    const disabled = await disabledPlaces(store, catalog());
    const records = dependencies
      .upstreams()
      .map((state) => upstreamRecord(catalog(), state, disabled, minutesOf(state.upstream)));
    return { records, disabled };
  }

  const minutesOf = (id: string) => activity.upstreamMinutes(id, MINUTES);

  return [
    scopedRoute({
      method: 'GET',
      path: '/upstreams',
      quiet: true,
      name: 'list_upstreams',
      scope: 'service:read',
      summary: 'Returns all upstreams with their health.',
      answer: upstreamsAnswer,
      async handle() {
        const { records, disabled } = await read();
        const forgotten = disabled.filter(({ known }) => !known).map(placeRecord);
        return { upstreams: records, forgotten };
      },
    }),
    scopedRoute({
      method: 'GET',
      path: '/upstreams/:id',
      quiet: true,
      name: 'get_upstream',
      scope: 'service:read',
      summary: 'Returns an upstream with its last hour and its latest failures.',
      answer: upstreamDetailAnswer,
      async handle({ param }) {
        const record = (await read()).records.find(({ id }) => id === param('id'));
        if (record === undefined) throw notFound('upstream');
        const words = await listWords(store.database, record.id);
        return upstreamDetail(
          record,
          minutesOf(record.id),
          activity.failures(record.id),
          words.map(wordsRecord),
        );
      },
    }),
    scopedRoute({
      method: 'POST',
      path: '/upstreams/:id/disable',
      name: 'disable_upstream',
      scope: 'service:write',
      summary: 'Takes an upstream out of service, wholly or for one model.',
      body: {
        ...PLACE,
        reason: Type.String({ maxLength: 200, description: 'Shown to operators.' }),
      },
      answer: nothing,
      codes: ['model_not_found', 'invalid_reason'],
      example: { reason: 'maintenance there' },
      async handle({ param, body: { model, reason }, actor }) {
        const place = { upstream: param('id'), model };
        await disablePlace(changeOf(dependencies, actor), catalog(), place, reason);
      },
    }),
    scopedRoute({
      method: 'POST',
      path: '/upstreams/:id/enable',
      name: 'enable_upstream',
      scope: 'service:write',
      summary: 'Puts an upstream back into service.',
      body: PLACE,
      answer: nothing,
      codes: ['model_not_found'],
      example: { model: 'demo-chat' },
      async handle({ param, body: { model }, actor }) {
        await enablePlace(changeOf(dependencies, actor), catalog(), {
          upstream: param('id'),
          model,
        });
      },
    }),
    scopedRoute({
      method: 'POST',
      path: '/upstreams/:id/reset',
      name: 'reset_upstream',
      scope: 'service:write',
      summary: 'Forgets the failures of an upstream that was repaired.',
      answer: nothing,
      async handle({ param, actor }) {
        await resetUpstream(changeOf(dependencies, actor), catalog(), param('id'));
      },
    }),
  ];
}

/** With the last hour, minute by minute, the latest failures, and what it said of them. */
function upstreamDetail(
  record: ReturnType<typeof upstreamRecord>,
  minutes: readonly UpstreamMinute[],
  failures: ReturnType<MachineDependencies['machine']['activity']['failures']>,
  words: readonly ReturnType<typeof wordsRecord>[],
) {
  return {
    ...record,
    minutes: minutes.map(({ at, attempts, failed, outputTokens }) => ({
      at: isoTime(at),
      attempts,
      failed,
      output_tokens: outputTokens,
    })),
    words,
    failures: failures.map((each) => ({
      at: isoTime(each.at),
      request_id: each.requestId,
      model: each.model,
      credential: each.credential,
      failure: each.failure,
      duration_ms: each.durationMs,
    })),
  };
}

function upstreamRecord(
  catalog: Catalog,
  state: UpstreamState,
  disabled: Disabled,
  minutes: readonly UpstreamMinute[],
) {
  const upstream = catalog.upstreams.get(state.upstream);
  const remote = upstream === undefined || upstream.dialect === 'demo' ? undefined : upstream;
  const whole = disabled.find((each) => each.upstream === state.upstream && !each.model);
  const models = modelRecords(catalog, state, disabled);
  const sum = (field: 'attempts' | 'failed' | 'outputTokens') =>
    minutes.reduce((total, minute) => total + minute[field], 0);
  return {
    id: state.upstream,
    object: 'upstream',
    dialect: upstream?.dialect ?? 'chat',
    profile: remote?.profileName ?? null,
    base_url: remote?.baseUrl ?? null,
    state: upstreamState(state),
    /** The whole upstream; null if in service. */
    disabled: whole === undefined ? null : { reason: whole.reason, since: isoTime(whole.since) },
    in_flight: state.inFlight,
    max_in_flight: upstream?.concurrency.maxInFlight ?? 0,
    queued: state.queued,
    credentials: state.credentials.map(({ id, state: word, status, untilMs }) => ({
      id,
      state: word,
      status: status ?? null,
      until: untilMs === undefined ? null : isoTime(untilMs),
    })),
    models,
    last_hour: {
      attempts: sum('attempts'),
      failed: sum('failed'),
      output_tokens: sum('outputTokens'),
    },
  } as const;
}

/** One row per placement: a model may have two at the same upstream, which share a breaker. */
function modelRecords({ models }: Catalog, state: UpstreamState, disabled: Disabled) {
  return models.flatMap(({ slug, servedBy }) =>
    servedBy
      .filter(({ upstream }) => upstream === state.upstream)
      .map((placement) => {
        const known = state.models.find(({ model }) => model === slug);
        const alone = disabled.find(
          ({ upstream, model }) => upstream === state.upstream && model === slug,
        );
        return {
          model: slug,
          /** The model's name at the upstream. */
          upstream_model: placement.model,
          weight: placement.weight,
          state: placeState(known),
          breaker: known?.breaker ?? 'closed',
          breaker_until: known?.untilMs === undefined ? null : isoTime(known.untilMs),
          disabled: known?.disabled === true,
          /** Set if only this model is out of service. */
          disabled_reason: alone?.reason ?? null,
        } as const;
      }),
  );
}
