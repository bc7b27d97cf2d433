// Metrics of what a server does beside requests: automatic backups, and the archiving of old requests.

import { counter, type Family, gauge } from './exposition.ts';

/** The automatic backups; `made`, `failed` and what follows count from the start. */
export type BackupState = {
  /** When the newest verified one began, in Unix milliseconds. */
  readonly newestMs: number | undefined;
  /** Verified ones in the folder. */
  readonly kept: number;
  readonly made: number;
  readonly failed: number;
  /** Of the last one; 0 before it. */
  readonly bytes: number;
  readonly seconds: number;
};

/** The archiving of old requests; counts are from the start. */
export type RetentionState = {
  readonly isFailing: boolean;
  /** Since the last run without a problem; absent on a node that does not lead. */
  readonly ageMs: number | undefined;
  /** Runs. */
  readonly succeeded: number;
  readonly failed: number;
  /** Requests. */
  readonly archived: number;
  readonly removed: number;
};

const SECOND_MS = 1_000;

/** Without a verified backup there is no age. */
export function readBackups(state: BackupState, nowMs: number): Family[] {
  const { newestMs, kept, made, failed, bytes, seconds } = state;
  return [
    gauge(
      'tollgate_backup_age_seconds',
      'Since the newest verified backup began; absent without one.',
      newestMs === undefined ? [] : [[{}, (nowMs - newestMs) / SECOND_MS]],
    ),
    gauge('tollgate_backups_kept', 'Verified backups in the folder.', kept),
    gauge('tollgate_backup_bytes', 'Size of the last backup since the start.', bytes),
    gauge(
      'tollgate_backup_duration_seconds',
      'Duration of the last backup since the start, its audit included.',
      seconds,
    ),
    counter('tollgate_backups_total', 'Automatic backups: made and verified, or failed.', [
      [{ result: 'made' }, made],
      [{ result: 'failed' }, failed],
    ]),
  ];
}

export function readRetention(state: RetentionState): Family[] {
  const { isFailing, ageMs, succeeded, failed, archived, removed } = state;
  return [
    gauge(
      'tollgate_archive_failing',
      '1 while old requests are not archived or removed because of a problem, else 0.',
      isFailing ? 1 : 0,
    ),
    gauge(
      'tollgate_archive_age_seconds',
      'Since the last run of the archive without a problem; absent on a node that does not lead.',
      ageMs === undefined ? [] : [[{}, ageMs / SECOND_MS]],
    ),
    counter('tollgate_archive_runs_total', 'Runs of the archive: succeeded, or failed.', [
      [{ result: 'succeeded' }, succeeded],
      [{ result: 'failed' }, failed],
    ]),
    counter(
      'tollgate_archive_requests_total',
      'Old requests: archived, and then removed from the database.',
      [
        [{ step: 'archived' }, archived],
        [{ step: 'removed' }, removed],
      ],
    ),
  ];
}
