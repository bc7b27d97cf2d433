// The console's records about the server: overview, upstreams, alerts, the ledger audit.

import type { alertRecord } from '../../operations/alerts.ts';
import type { placeRecord } from '../../operations/upstreams.ts';
import type { auditStateRecord } from '../operator/self-audit.ts';
import type { machineRecord } from '../operator/server.ts';
import type { upstreamDetail, upstreamRecord } from '../operator/upstreams.ts';

/** Alerts of one kind and subject; `open` unless acknowledged. */
export type AlertRecord = ReturnType<typeof alertRecord>;

/** The live part, sent by the overview's feed. */
export type MachineRecord = Awaited<ReturnType<typeof machineRecord>>;

export type OperatorOverviewRecord = {
  readonly version: string;
  readonly started_at: string;
  readonly live: MachineRecord;
};

export type PlaceModelRecord = UpstreamRecord['models'][number];

export type FailedAttemptRecord = UpstreamDetailRecord['failures'][number];

/** What an upstream said of failed attempts, equal words counted. */
export type UpstreamWordsRecord = UpstreamDetailRecord['words'][number];

export type UpstreamRecord = ReturnType<typeof upstreamRecord>;

export type UpstreamDetailRecord = ReturnType<typeof upstreamDetail>;

export type UpstreamsRecord = {
  readonly upstreams: readonly UpstreamRecord[];
  /** Entries out of service that the catalog no longer contains. */
  readonly forgotten: readonly ReturnType<typeof placeRecord>[];
};

export type AuditStateRecord = ReturnType<typeof auditStateRecord>;
