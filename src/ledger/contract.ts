// What the ledger is asked to do and what it answers: plain data, so that the ledger can live in a
// thread of its own. Amounts are in 10⁻⁶ service token, instants in Unix milliseconds.

import type { ClientFormatName } from '../core/admit.ts';
import type { Outcome, Usage } from '../core/generation.ts';
import type { Micro, Tokens, UsdRate } from '../core/money.ts';
import type { Price } from '../core/price.ts';

/** Reserves money before an upstream is asked. */
export type HoldCommand = {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly format: ClientFormatName;
  readonly stream: boolean;
  readonly endUser?: string | undefined;
  /** The slug that was asked for, aliases resolved. */
  readonly model: string;
  readonly price: Price;
  readonly amount: Micro;
  /** What the prompt may cost beyond its estimate (`core/price.ts`); absent: nothing. */
  readonly excess?: Micro;
  /** What output may cost that is never passed on, as far as the balance goes; absent: nothing. */
  readonly hidden?: Micro;
  readonly promptTokens: Tokens;
  readonly outputBound: Tokens;
  /** Of the node that will end it; absent: of nobody who is known to live. */
  readonly boot?: string | undefined;
  /** When the request started. */
  readonly nowMs: number;
};

/** `available` is what is left: after the hold where there is one, else what did not suffice. */
export type HoldResult = {
  readonly ok: boolean;
  readonly available: Micro;
  /** Where the amount is available and the worst case is not covered (`core/exposure.ts`). */
  readonly uncovered?: Uncovered;
};

/** A hold is answered once its transaction has decided, and is on disk a little later. */
export type PlacedHold = HoldResult & { readonly written: Written };

/** Whether a hold is on disk. `wait` rejects with `LedgerUnavailable` where it could not be written. */
export type Written = {
  readonly isDone: () => boolean;
  readonly wait: () => Promise<void>;
};

/** The largest worst case that would be let in, and the open holds of the account. */
type Uncovered = { readonly room: Micro; readonly openHolds: number };

/** Who serves. */
export type Served = { readonly model: string; readonly upstream: string; readonly price: Price };

/** Raises a hold to `amount` in all; one that is as large already stays as it is. */
export type ExtendCommand = {
  readonly requestId: string;
  readonly amount: Micro;
  /** As in the hold. */
  readonly excess?: Micro;
};

/**
 * What of its stream a client has got so far, which a crash is charged by: without a checkpoint it is
 * charged nothing. Counts only ever grow. Refused where the hold has ended.
 */
export type CheckpointCommand = {
  readonly requestId: string;
  readonly served: Served;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly nowMs: number;
  /** Whether the answer waits for it. */
  readonly isAwaited?: boolean;
};

/** How a request ended; what the hold knows already is not repeated. */
export type ReleaseCommand = {
  readonly requestId: string;
  /** What answered; absent where nothing did. */
  readonly served?: Served | undefined;
  readonly outcome: Outcome;
  readonly usage: Usage;
  /** What the upstream reported, as it wrote it; numbers alone. */
  readonly rawUsage?: string | undefined;
  /** For `explain`, as a JSON array: upstream, model, times and failure class of each attempt. */
  readonly attempts: string;
  /** For the receipt, which tells the amount in USD too. */
  readonly usdPerMillion: UsdRate;
  readonly nowMs: number;
};

/** `charge` is what the usage costs, computed by `core/price`. */
export type SettleCommand = ReleaseCommand & {
  readonly charge: Micro;
  /** What exceeds the hold is the gateway's loss, whatever is available: nobody has got it. */
  readonly withinHold?: boolean;
};

/**
 * `debited` was taken from the account and `loss` is the part of the charge that it could not pay;
 * `available` is the account's balance now.
 */
export type Settlement = {
  readonly debited: Micro;
  readonly loss: Micro;
  readonly available: Micro;
  /** This loss has taken the account's unpaid charges above the bound (`core/exposure.ts`). */
  readonly restricted?: true;
};

/**
 * Ends holds that nobody will end: those of a process that has died, when the next one starts, and
 * later those whose request is gone. `live` are the requests that are under way.
 */
export type RecoverCommand = {
  /** Whose holds, by the incarnation that made them; absent: all, which only a lone server may ask. */
  readonly incarnations?: readonly string[];
  /** Of these requests alone. */
  readonly requestIds?: readonly string[];
  readonly live: readonly string[];
  /** Holds that are younger are left alone: their request may be about to become live. */
  readonly createdBefore: number;
  /** `expired` where this very process has lost them, which must not happen. */
  readonly phase: 'ended' | 'expired';
  readonly usdPerMillion: UsdRate;
  readonly nowMs: number;
};

/** One hold that was recovered: released where nothing had been delivered, else settled. */
export type Recovered = {
  readonly requestId: string;
  readonly accountId: string;
  readonly debited: Micro;
};

/** Who moves money and from where, for the audit trail. */
export type Author = {
  readonly operationId: string;
  readonly actor: string;
  readonly address: string | null;
};

export type CreditCommand = {
  /** Names this one movement: the same id is never booked twice. */
  readonly creditId: string;
  readonly accountId: string;
  /** `adjustment` alone may be negative, and never takes more than what is available. */
  readonly kind: 'credit' | 'grant' | 'adjustment';
  readonly amount: Micro;
  readonly reason: string;
  /** Absent: nobody whom the audit trail knows. */
  readonly by?: Author;
  readonly nowMs: number;
};

/** `applied` is false when this credit had been booked before. */
export type CreditResult = { readonly available: Micro; readonly applied: boolean };

/** `digest` is of the code's normal form (`core/redemption-code.ts`). */
export type RedeemCommand = {
  readonly digest: string;
  readonly accountId: string;
  readonly by?: Author;
  readonly nowMs: number;
};

/** Redeeming a code again for the same account answers what the first time did. */
export type RedeemResult =
  | { readonly kind: 'redeemed'; readonly amount: Micro; readonly available: Micro }
  | { readonly kind: 'refused'; readonly why: 'unknown' | 'used' | 'expired' | 'revoked' };

export type Balance = { readonly posted: Micro; readonly held: Micro; readonly available: Micro };

/**
 * The only writer of money. Every command answers when its transaction is on disk, in the order in
 * which they were given. A promise rejects with `LedgerUnavailable` when the database failed, or too
 * many commands wait or this one did for too long, and with `LedgerRefusal` when the command cannot be carried out (unknown
 * account or request, an amount out of range); then nothing was changed.
 */
export type Ledger = {
  /**
   * Reserves `amount`, or answers `ok: false` and reserves nothing: where it is not available, or
   * the worst case is more than the account's balance and open holds allow.
   */
  readonly hold: (command: HoldCommand) => Promise<PlacedHold>;
  /** Reserves more for a request, or answers `ok: false` and changes nothing. */
  readonly extend: (command: ExtendCommand) => Promise<HoldResult>;
  readonly checkpoint: (command: CheckpointCommand) => Promise<void>;
  /**
   * Ends the hold and takes the charge: from the hold, then from the available balance down to
   * zero; the rest is booked as the gateway's loss. Whichever of `settle` and `release` comes
   * first for a request counts: a later one changes nothing and answers what the first one took.
   * Where the database failed, the command is kept and tried again until it is booked: the promise
   * waits for that, and rejects only when the ledger is closed before.
   */
  readonly settle: (command: SettleCommand) => Promise<Settlement>;
  /** Ends the hold without a charge; else like `settle`. */
  readonly release: (command: ReleaseCommand) => Promise<Settlement>;
  /** Ends a bounded number of holds; given again until it answers none (`recoverAll`), all of them. */
  readonly recover: (command: RecoverCommand) => Promise<readonly Recovered[]>;
  /** Moves money into an account, or by an adjustment out of it, once by credit id. */
  readonly credit: (command: CreditCommand) => Promise<CreditResult>;
  readonly redeem: (command: RedeemCommand) => Promise<RedeemResult>;
  /** Commands that are not on disk yet, the ones that are tried again included. */
  readonly pending: () => number;
  /** Writes what is pending, once more, and stops trying. Answers how many commands are left. */
  readonly close: () => Promise<number>;
};

/** What each command takes. */
export type CommandTypes = {
  readonly [Name in Exclude<keyof Ledger, 'pending' | 'close'>]: Parameters<Ledger[Name]>[0];
};

/** One command, as plain data: what queues hold, threads post and the writer takes. */
export type LedgerRequest<Name extends keyof CommandTypes = keyof CommandTypes> = {
  [Each in Name]: { readonly name: Each; readonly command: CommandTypes[Each] };
}[Name];
