// What only the operator can mend, as values. Raised where it is noticed, by a function that is an
// argument; serve has it written to the log, counted, and sent to a webhook. Its words name the
// operator's own things: no key, no prompt, and nothing that an upstream or a caller has written.

import type { UsageDoubt } from './generation.ts';

export type Alert =
  /** The upstream refuses our key, or our wallet there is empty. */
  | {
      readonly kind: 'credential_refused';
      readonly upstream: string;
      /** Its place in the catalog's list, from 1. */
      readonly credential: string;
      readonly status?: number;
      /** It refuses requests of several accounts, and accepts a probe of ours. */
      readonly some?: true;
    }
  /** A model fails at an upstream so often that it is left alone for a while. */
  | { readonly kind: 'breaker_opened'; readonly upstream: string; readonly model: string }
  /** What an upstream says that it has read and written cannot be right. */
  | {
      readonly kind: 'usage_doubted';
      readonly model: string;
      readonly upstream: string;
      readonly doubt: UsageDoubt;
      readonly requestId: string;
    }
  /** The unpaid charges of an account are above the bound (`core/exposure.ts`). */
  | { readonly kind: 'account_restricted'; readonly accountId: string; readonly requestId: string }
  /** The end of a request could not be written: it is `kept` and tried again, or was `given_up`. */
  | {
      readonly kind: 'ledger_failing';
      readonly trouble: 'kept' | 'given_up';
      readonly requestId: string;
    }
  | { readonly kind: 'ledger_stopped' }
  /** The file of the database is gone, or another one, while it is served. */
  | { readonly kind: 'database_lost'; readonly requests: number; readonly sinceMs: number }
  /** There must never be such a hold. */
  | { readonly kind: 'hold_lost'; readonly requestId: string }
  | { readonly kind: 'audit_difference'; readonly count: number }
  | { readonly kind: 'audit_failed' }
  /** A changed catalog cannot be read; the one before it stays. */
  | { readonly kind: 'catalog_refused'; readonly problems: number }
  /** Something of ours threw what nobody threw on purpose. */
  | { readonly kind: 'internal_error'; readonly requestId: string };

/** One kind, one subject: repetitions of it tell an operator nothing new for some minutes. */
export function alertSubject(alert: Alert): string {
  switch (alert.kind) {
    case 'credential_refused':
      return `${alert.upstream} ${alert.credential}`;
    case 'breaker_opened':
      return `${alert.upstream} ${alert.model}`;
    case 'usage_doubted':
      return `${alert.upstream} ${alert.model} ${alert.doubt}`;
    case 'account_restricted':
      return alert.accountId;
    case 'ledger_failing':
      return alert.trouble;
    default:
      return '';
  }
}

/** One sentence: what has happened, and what to do where that does not follow from it. */
export function alertWords(alert: Alert): string {
  switch (alert.kind) {
    case 'credential_refused':
      if (alert.some === true) {
        return `upstream ${alert.upstream} refuses some requests with our credential ${alert.credential}, and accepts others; check the balance of its account, and tollgate explain`;
      }
      return `upstream ${alert.upstream} refuses our credential ${alert.credential} or its account (status ${alert.status ?? 'unknown'}); check its api_key and balance`;
    case 'breaker_opened':
      return `upstream ${alert.upstream} fails for ${alert.model} and is left alone for a while`;
    case 'usage_doubted':
      return doubtWords(alert);
    case 'account_restricted':
      return `account ${alert.accountId} could not pay charges above the bound, the last of them ${alert.requestId}; its requests are now accepted only if the balance covers their worst case, until as much is credited`;
    case 'ledger_failing':
      return alert.trouble === 'kept'
        ? `ledger: kept ${alert.requestId}: its end could not be written and is tried again; check the disk of the database`
        : `ledger: given_up ${alert.requestId}: its end is refused by the books; see tollgate explain and tollgate doctor`;
    case 'database_lost':
      return `the database file is not in its place any more: nothing new is served, and ${alert.requests} ${alert.requests === 1 ? 'request' : 'requests'} under way and all that was booked since ${new Date(alert.sinceMs).toISOString()} are lost unless that file comes back; stop the server, put the right file in its place, and start again`;
    case 'ledger_stopped':
      return 'ledger: its thread has died and is started again';
    case 'hold_lost':
      return `ledger: the hold of ${alert.requestId} had lost its request and was ended`;
    case 'audit_difference':
      return `audit: the books differ in ${alert.count} ${alert.count === 1 ? 'place' : 'places'}; tollgate doctor names them`;
    case 'audit_failed':
      return 'audit: the books could not be looked at';
    case 'catalog_refused':
      return `the changed catalog has ${alert.problems} ${alert.problems === 1 ? 'problem' : 'problems'} and is not taken; the one before it serves on`;
    case 'internal_error':
      return `internal error in ${alert.requestId}`;
  }
}

/** What was charged in place of each kind of report. */
const CHARGED: Readonly<Record<UsageDoubt, string>> = {
  malformed: 'is malformed; our own count was charged instead',
  inconsistent: 'is inconsistent; our own count was charged instead',
  implausible:
    'is implausible; the larger of our own count and the bound of the request was charged; check context_window and max_output of the model',
  zero: 'is zero although there was something to count; it was charged as zero',
};

/** Money may be lost here without end: a server that reports nonsense does so for every request. */
function doubtWords({
  model,
  upstream,
  doubt,
  requestId,
}: Extract<Alert, { kind: 'usage_doubted' }>): string {
  return `the usage that upstream ${upstream} reported of ${model} for ${requestId} ${CHARGED[doubt]}`;
}
