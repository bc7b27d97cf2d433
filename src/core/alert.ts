// Conditions that need the operator, as values. The module that detects one raises it through a
// function argument; the server logs it, counts it and sends it to a webhook. The text contains no
// key and nothing written by a caller. What an upstream said is in quotes, short and on one line.

import type { UnknownWord, UsageDoubt } from './generation.ts';

type ModelAtUpstream = { readonly upstream: string; readonly model: string };

export type Alert =
  /** The upstream refuses our key, or our balance there is empty. */
  | {
      readonly kind: 'credential_refused';
      readonly upstream: string;
      /** Position in the catalog's list, starting at 1. */
      readonly credential: string;
      readonly status?: number;
      /** Why there is no credential to send, in our own words. */
      readonly reason?: string;
      /** What it said to a probe, which has no words of a caller. */
      readonly said?: string | undefined;
      /** The upstream refuses requests of several accounts but accepts our probe. */
      readonly some?: true;
    }
  /** A model failed so often at an upstream that its circuit breaker opened. */
  | (ModelAtUpstream & {
      readonly kind: 'breaker_opened';
      /** What it said to a probe, which has no words of a caller. */
      readonly said?: string | undefined;
    })
  /** The upstream names a parameter that the gateway chose. */
  | (ModelAtUpstream & {
      readonly kind: 'parameter_refused';
      readonly parameter: string;
      readonly said: string;
    })
  /** The upstream's usage report cannot be right, perhaps for every request. */
  | (ModelAtUpstream & {
      readonly kind: 'usage_doubted';
      readonly doubt: UsageDoubt;
      readonly requestId: string;
    })
  /** Most of the last answers came without usage, so our own count is charged. */
  | (ModelAtUpstream & { readonly kind: 'usage_missing'; readonly streamed: boolean })
  /** Most of the last reports were far from our count of the prompts: reported tokens for one. */
  | (ModelAtUpstream & { readonly kind: 'prompt_doubted'; readonly ratio: string })
  /** An answer has a word that no reader knows. */
  | (ModelAtUpstream & UnknownWord & { readonly kind: 'word_unknown' })
  /** The unpaid charges of an account exceed the bound (`core/exposure.ts`). */
  | { readonly kind: 'account_restricted'; readonly accountId: string; readonly requestId: string }
  /** The runaway guard has paused a key. */
  | {
      readonly kind: 'key_runaway';
      readonly accountId: string;
      readonly keyId: string;
      /** Service tokens in ten minutes, and as many as the key may spend in them. */
      readonly spent: string;
      readonly allowed: string;
    }
  /**
   * The end of a request could not be written: it is `kept` for a retry, or was `given_up`. Or a
   * request was `refused` because its hold could not be written.
   */
  | {
      readonly kind: 'ledger_failing';
      readonly trouble: 'kept' | 'given_up' | 'refused';
      readonly requestId: string;
    }
  | { readonly kind: 'ledger_stopped' }
  /** The database file was removed or replaced while in use. */
  | { readonly kind: 'database_lost'; readonly requests: number; readonly sinceMs: number }
  /** A hold without a request, which must never occur. */
  | { readonly kind: 'hold_lost'; readonly requestId: string }
  | { readonly kind: 'audit_difference'; readonly count: number }
  | { readonly kind: 'audit_failed' }
  /** A changed catalog is invalid; the previous one stays active. */
  | { readonly kind: 'catalog_refused'; readonly problems: number }
  /** No verified backup was made; it is tried again. */
  | { readonly kind: 'backup_failed'; readonly reason: BackupFailure }
  /** Old requests stay in the database; it is tried again. */
  | { readonly kind: 'archive_failed'; readonly reason: ArchiveFailure }
  /** An unexpected error of our own. */
  | { readonly kind: 'internal_error'; readonly requestId: string };

/** Groups repetitions: alerts of the same kind and subject are suppressed for some minutes. */
export function alertSubject(alert: Alert): string {
  switch (alert.kind) {
    case 'credential_refused':
      return `${alert.upstream} ${alert.credential}`;
    case 'breaker_opened':
    case 'prompt_doubted':
      return `${alert.upstream} ${alert.model}`;
    case 'parameter_refused':
      return `${alert.upstream} ${alert.model} ${alert.parameter}`;
    case 'usage_missing':
      return `${alert.upstream} ${alert.model} ${alert.streamed ? 'streamed' : 'whole'}`;
    case 'word_unknown':
      return `${alert.upstream} ${alert.model} ${alert.what}`;
    case 'usage_doubted':
      return `${alert.upstream} ${alert.model} ${alert.doubt}`;
    case 'account_restricted':
      return alert.accountId;
    case 'key_runaway':
      return alert.keyId;
    case 'ledger_failing':
      return alert.trouble;
    case 'backup_failed':
    case 'archive_failed':
      return alert.reason;
    default:
      return '';
  }
}

const LEDGER_TROUBLES = {
  kept: 'its end could not be written and will be retried; check the disk of the database',
  given_up: 'the ledger refused its end; run tollgate explain and tollgate doctor',
  refused:
    'its money could not be written, so its client got 503, as others may; check the disk or the server of the database',
};

/** One sentence: what happened and, unless obvious, what to do. */
export function alertWords(alert: Alert): string {
  switch (alert.kind) {
    case 'credential_refused':
      if (alert.some === true) {
        return `upstream ${alert.upstream} refuses some requests with our credential ${alert.credential} and accepts others; check the balance of its account, and run tollgate explain`;
      }
      if (alert.reason !== undefined) {
        return `upstream ${alert.upstream} cannot be used with credential ${alert.credential}: ${alert.reason}`;
      }
      return `upstream ${alert.upstream} refuses our credential ${alert.credential} or its account (status ${alert.status ?? 'unknown'}); check its api_key and balance${quoted(alert.said)}`;
    case 'breaker_opened':
      return `upstream ${alert.upstream} fails for ${alert.model}; its circuit breaker is open${quoted(alert.said)}`;
    case 'parameter_refused':
      return `upstream ${alert.upstream} refuses ${alert.parameter} for ${alert.model}, which its profile or the catalog sets${quoted(alert.said)}`;
    case 'usage_doubted':
      return `the usage that upstream ${alert.upstream} reported of ${alert.model} for ${alert.requestId} ${CHARGED[alert.doubt]}`;
    case 'usage_missing':
      return `upstream ${alert.upstream} does not report the usage of most ${alert.streamed ? 'streamed' : 'whole'} answers of ${alert.model}; our own count is charged. Run tollgate upstream test, and compare a bill with tollgate reconcile`;
    case 'prompt_doubted':
      return `upstream ${alert.upstream} reports ${alert.ratio} times the prompt tokens that we count for ${alert.model}; check which model it serves, and compare a bill with tollgate reconcile`;
    case 'word_unknown':
      return `upstream ${alert.upstream} sends the unknown ${alert.what} "${alert.word.replaceAll(/[^\x21-\x7e]|["\\]/g, '?')}" for ${alert.model}; compare its documentation with its profile`;
    case 'account_restricted':
      return `account ${alert.accountId} could not pay charges above the bound, the last of them ${alert.requestId}; its requests are now accepted only if the balance covers their worst case, until as much is credited`;
    case 'key_runaway':
      return `key ${alert.keyId} of account ${alert.accountId} spent ${alert.spent} service tokens within ten minutes, where its habit allows ${alert.allowed}; it is paused until its owner resumes it`;
    case 'ledger_failing':
      return `ledger: ${alert.trouble} ${alert.requestId}: ${LEDGER_TROUBLES[alert.trouble]}`;
    case 'database_lost':
      return `the database file is missing or was replaced: no new requests are served, and ${alert.requests} ${alert.requests === 1 ? 'request' : 'requests'} in progress and everything booked since ${new Date(alert.sinceMs).toISOString()} are lost unless that file is restored; stop the server, restore the file, and start the server again`;
    case 'ledger_stopped':
      return 'ledger: its thread crashed and is being restarted';
    case 'hold_lost':
      return `ledger: the hold of ${alert.requestId} had no request any more and was released`;
    case 'audit_difference':
      return `audit: the ledger is inconsistent in ${alert.count} ${alert.count === 1 ? 'place' : 'places'}; run tollgate doctor for details`;
    case 'audit_failed':
      return 'audit: the ledger could not be read; see the log for the cause';
    case 'catalog_refused':
      return `the changed catalog has ${alert.problems} ${alert.problems === 1 ? 'problem' : 'problems'} and was rejected; the previous catalog stays active`;
    case 'backup_failed':
      return `backup: ${BACKUP_FAILURES[alert.reason]}`;
    case 'archive_failed':
      return `archive: ${ARCHIVE_FAILURES[alert.reason]}; the log has the names`;
    case 'internal_error':
      return `internal error in ${alert.requestId}`;
  }
}

function quoted(said: string | undefined): string {
  return said === undefined || said === '' ? '' : `; it said "${said}"`;
}

/** Why an automatic backup was not made, or is not verified. */
const BACKUP_FAILURES = {
  folder: 'the folder of BACKUP_DIR cannot be used; check that this user may write it',
  shared:
    'another server keeps the backups of its database in the folder of BACKUP_DIR; give each one its own',
  space:
    'the disk of BACKUP_DIR or of the database has too little space for another copy; free some, or set BACKUP_KEEP',
  damaged:
    'the copy was damaged and was removed; run tollgate doctor, because the database may be too',
  differences:
    'the audit found differences in the books of the copy, so it is kept as unverified; run tollgate doctor',
  unaudited:
    'the executable was replaced by a later version, which cannot audit these books, so the copy is kept as unverified; restart the server',
  failed: 'no backup was made; see the log for the cause',
} as const;

export type BackupFailure = keyof typeof BACKUP_FAILURES;

/**
 * Why old requests were not archived, or archived ones not removed. Without names: `/readyz` shows
 * it to everyone.
 */
export const ARCHIVE_FAILURES = {
  files: 'files of earlier archives are missing or were changed',
  unproven: 'the rows of a month do not give the receipts of its account',
  space: 'the disk of the archives has too little space left',
  folder: 'the folder of the archives cannot be written',
  failed: 'the run failed',
} as const;

export type ArchiveFailure = keyof typeof ARCHIVE_FAILURES;

/** How each kind of doubtful report was charged. */
const CHARGED: Readonly<Record<UsageDoubt, string>> = {
  malformed: 'is malformed; our own count was charged instead',
  inconsistent: 'is inconsistent; our own count was charged instead',
  implausible:
    'is implausible; the larger of our own count and the bound of the request was charged; check context_window and max_output of the model',
  zero: 'is zero although there was something to count; it was charged as zero',
  service_tier:
    'names a service tier that the price has no factor for; it was charged as the ordinary tier; add the tier to service_tiers of the price, or change extra_body of the upstream',
};
