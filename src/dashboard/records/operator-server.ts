// The console's records about the server: overview, upstreams, alerts, the ledger audit.

import { type Static, Type } from '@sinclair/typebox';
import type { FailedAttempt } from '../../core/activity.ts';
import type { Upstream } from '../../core/model.ts';
import type { Sentence } from '../../core/sentence.ts';
import type { DifferenceKind } from '../../ledger/audit/difference.ts';
import type { alertRecord } from '../../operations/alerts.ts';
import type { wordsRecord } from '../../operations/upstream-words.ts';
import type { machineRecord, openRecord } from '../operator/server.ts';
import { count, instant, list, many, named, nullable, oneOf, text } from './schema.ts';

type Words = ReturnType<typeof wordsRecord>;
type Alert = ReturnType<typeof alertRecord>;

/** Alerts of one kind and subject; `open` unless acknowledged. */
export const alertAnswer = named('Alert', {
  id: text,
  object: Type.Literal('alert'),
  kind: Type.Unsafe<Alert['kind']>(text),
  message: text,
  /** The message with its values apart, and the page about the cause. */
  sentence: Type.Unsafe<Sentence>(
    Type.Object({ text, values: Type.Object({}), about: Type.Optional(text) }),
  ),
  request_id: nullable(text),
  count,
  first_at: instant,
  last_at: instant,
  open: Type.Boolean(),
  acknowledged: nullable(Type.Object({ at: instant, by: text })),
});

export const alertListAnswer = list('AlertList', alertAnswer);

export type AlertRecord = Static<typeof alertAnswer>;

export type { Sentence };

/** What is wrong now. */
export type OpenRecord = Awaited<ReturnType<typeof openRecord>>;

/** The live part, sent by the overview's feed. */
export type MachineRecord = Awaited<ReturnType<typeof machineRecord>>;

export type OperatorOverviewRecord = {
  readonly version: string;
  readonly started_at: string;
  readonly live: MachineRecord;
};

const place = oneOf('healthy', 'idle', 'failing', 'degraded', 'disabled');
const breaker = oneOf('closed', 'open', 'half_open');

const upstreamAnswer = named('Upstream', {
  id: text,
  object: Type.Literal('upstream'),
  dialect: Type.Unsafe<Upstream['dialect']>(text),
  profile: nullable(text),
  base_url: nullable(text),
  state: oneOf('healthy', 'idle', 'degraded', 'down', 'disabled'),
  /** The whole upstream; null if in service. */
  disabled: nullable(Type.Object({ reason: text, since: instant })),
  in_flight: count,
  max_in_flight: count,
  queued: count,
  credentials: many(
    Type.Object({
      id: text,
      state: oneOf('ok', 'disabled'),
      status: nullable(count),
      until: nullable(instant),
    }),
  ),
  models: many(
    Type.Object({
      model: text,
      /** The model's name at the upstream. */
      upstream_model: text,
      weight: Type.Number(),
      state: place,
      breaker,
      breaker_until: nullable(instant),
      disabled: Type.Boolean(),
      /** Set if only this model is out of service. */
      disabled_reason: nullable(text),
    }),
  ),
  last_hour: Type.Object({ attempts: count, failed: count, output_tokens: count }),
});

/** Entries out of service that the catalog no longer contains are in `forgotten`. */
export const upstreamsAnswer = named('Upstreams', {
  upstreams: many(upstreamAnswer),
  forgotten: many(
    Type.Object({ upstream: text, model: nullable(text), reason: text, since: instant }),
  ),
});

/** With the last hour, minute by minute, the latest failures, and what it said of them. */
export const upstreamDetailAnswer = named('UpstreamDetail', {
  ...upstreamAnswer.properties,
  minutes: many(Type.Object({ at: instant, attempts: count, failed: count, output_tokens: count })),
  words: many(
    Type.Object({
      id: text,
      model: text,
      failure: Type.Unsafe<Words['failure']>(text),
      words: text,
      count,
      first_at: instant,
      last_at: instant,
      /** The latest request. */
      request_id: text,
    }),
  ),
  failures: many(
    Type.Object({
      at: instant,
      request_id: text,
      model: text,
      credential: Type.Unsafe<FailedAttempt['credential']>(nullable(text)),
      failure: Type.Unsafe<FailedAttempt['failure']>(text),
      duration_ms: Type.Number(),
    }),
  ),
});

export type UpstreamRecord = Static<typeof upstreamAnswer>;

export type UpstreamDetailRecord = Static<typeof upstreamDetailAnswer>;

export type UpstreamsRecord = Static<typeof upstreamsAnswer>;

export type PlaceModelRecord = UpstreamRecord['models'][number];

export type FailedAttemptRecord = UpstreamDetailRecord['failures'][number];

/** What an upstream said of failed attempts, equal words counted. */
export type UpstreamWordsRecord = UpstreamDetailRecord['words'][number];

export const auditStateAnswer = named('LedgerAudit', {
  running: Type.Boolean(),
  every_seconds: count,
  last: nullable(
    Type.Object({ started_at: instant, ended_at: instant, ok: Type.Boolean(), differences: count }),
  ),
  differences: many(
    Type.Object({
      kind: Type.Unsafe<DifferenceKind>(text),
      subject: text,
      account_id: nullable(text),
      detail: text,
    }),
  ),
  /** Accounts. */
  stopped: many(text),
});

export type AuditStateRecord = Static<typeof auditStateAnswer>;
