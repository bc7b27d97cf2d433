// The input and output of the audit.

import type { AuditPass } from './pass.ts';

/**
 * posted       a balance is not the sum of the account's entries, or is not there
 * held         what is held is not the sum of the open holds
 * receipt      a request or a movement says something else than its receipt did
 * chain        the receipts of an account are no chain, or its balance names another end of it
 * anchor       the anchor of an archived month is not as it was made, or does not continue the one before
 * record       a row belongs to no account, or says two things about itself
 * redemption   a code and its movement do not fit
 * budget       a key's budget has counted something else than its keys were charged
 * orphan       an open hold whose request is no longer running
 * unheld       a request is running without a hold
 * lease        a claim on the limits whose request is no longer running
 */
export type DifferenceKind =
  | 'posted'
  | 'held'
  | 'receipt'
  | 'chain'
  | 'anchor'
  | 'record'
  | 'redemption'
  | 'budget'
  | 'orphan'
  | 'unheld'
  | 'lease';

/** Every audit finds these again; the others may lie in rows that the next one leaves out. */
export const ALWAYS_FOUND: ReadonlySet<DifferenceKind> = new Set([
  'held',
  'orphan',
  'unheld',
  'lease',
]);

export type Difference = {
  readonly kind: DifferenceKind;
  /** The account concerned; null where only the operator is. */
  readonly accountId: string | null;
  /** An account id, a transfer id, a request id or the digest of a code. */
  readonly subject: string;
  /** What was expected and what was found, for the operator. */
  readonly detail: string;
};

export type AuditScope = {
  /** Audits one account only, without the redemption codes that were never used. */
  readonly accountId?: string;
  /** The running requests; absent where no server is running. */
  readonly live?: LiveRequests;
  /** Which rows are read; absent: all. */
  readonly pass?: AuditPass;
  /** Awaited after each portion. */
  readonly rest?: () => Promise<void>;
};

/** What a server is doing, as one consistent snapshot from before the books are read. */
export type LiveRequests = {
  /** The node of these requests; absent where they should include all open holds. */
  readonly boot?: string;
  readonly requests: readonly string[];
  /** Claims on the limits; `startedAt` in Unix milliseconds. */
  readonly claims: readonly {
    readonly requestId: string;
    readonly accountId: string;
    readonly startedAt: number;
  }[];
  /** Unix milliseconds: younger requests and holds are skipped, as they may just be starting. */
  readonly createdBefore: number;
};

/** What a server reports about the audits of its own books. */
export type AuditState = {
  readonly running: boolean;
  readonly everyMs: number;
  /** The last full audit; absent before the first. Not `ok`: it could not run. */
  readonly last:
    | {
        readonly startedAt: number;
        readonly endedAt: number;
        readonly ok: boolean;
        readonly count: number;
      }
    | undefined;
  /** The confirmed ones, the first of each account. */
  readonly differences: readonly Difference[];
  /** Accounts whose new requests are rejected because of them. */
  readonly stopped: readonly string[];
};
