// What the audit looks at and what it answers.

/**
 * posted       a balance is not the sum of the account's entries, or is not there
 * held         what is held is not the sum of the open holds
 * receipt      a request or a movement says something else than its receipt did
 * chain        the receipts of an account are no chain, or its balance names another end of it
 * record       a row belongs to no account, or says two things about itself
 * redemption   a code and its movement do not fit
 * orphan       an open hold whose request is not under way any more
 * unheld       a request is under way without a hold
 * lease        a claim on the limits whose request is not under way any more
 */
export type DifferenceKind =
  | 'posted'
  | 'held'
  | 'receipt'
  | 'chain'
  | 'record'
  | 'redemption'
  | 'orphan'
  | 'unheld'
  | 'lease';

export type Difference = {
  readonly kind: DifferenceKind;
  /** Whose money it is about; null where it is about nobody's but the operator's. */
  readonly accountId: string | null;
  /** An account id, a transfer id, a request id or the digest of a code. */
  readonly subject: string;
  /** What was expected and what was found, in words for the operator. */
  readonly detail: string;
};

export type AuditScope = {
  /** Looks at one account alone; the redemption codes that were never used are left out then. */
  readonly accountId?: string;
  /** What is under way; absent where no server is asked. */
  readonly live?: LiveRequests;
};

/** What a server is doing, all of it seen at the same moment, before the books are looked at. */
export type LiveRequests = {
  /** Of the node whose requests these are; absent where all open holds should be among them. */
  readonly boot?: string;
  readonly requests: readonly string[];
  /** Of the limits; `startedAt` in Unix milliseconds. */
  readonly claims: readonly {
    readonly requestId: string;
    readonly accountId: string;
    readonly startedAt: number;
  }[];
  /** Unix milliseconds: what is younger may be about to be held, or to become live. */
  readonly createdBefore: number;
};

/** What a server knows of the audits of its own books. */
export type AuditState = {
  readonly running: boolean;
  readonly everyMs: number;
  /** The last look at everything; absent before the first. Not `ok`: it could not be made. */
  readonly last:
    | {
        readonly startedAt: number;
        readonly endedAt: number;
        readonly ok: boolean;
        readonly count: number;
      }
    | undefined;
  /** The ones that are believed, the first of each account. */
  readonly differences: readonly Difference[];
  /** Accounts that get no new answers for it. */
  readonly stopped: readonly string[];
};
