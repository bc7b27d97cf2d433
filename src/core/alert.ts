// Conditions that need the operator, as values. The module that detects one raises it through a
// function argument; the server logs it, counts it and sends it to a webhook. The text contains no
// key and nothing written by a caller. What an upstream said is in quotes, short and on one line.

import type { UnknownWord, UsageDoubt } from './generation.ts';

export type ModelAtUpstream = { readonly upstream: string; readonly model: string };

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

/** Why an automatic backup was not made, or is not verified. */
export type BackupFailure =
  | ('folder' | 'shared' | 'space' | 'damaged')
  | ('differences' | 'unaudited' | 'failed');

/** Why old requests were not archived, or archived ones not removed. */
export type ArchiveFailure = 'files' | 'unproven' | 'space' | 'folder' | 'failed';

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
