// The commands and answers of the ledger: plain data, so that it can run in a thread. Amounts are
// in 10⁻⁶ service token, times in Unix milliseconds.

import type { ClientFormatName } from '../core/admit.ts';
import type { Outcome, Usage } from '../core/generation.ts';
import type { BudgetLimits, BudgetRest, BudgetSpend } from '../core/key-budget.ts';
import type { Micro, Tokens, UsdRate } from '../core/money.ts';
import type { Price } from '../core/price.ts';
import type { RequestFailure } from '../core/request-failure.ts';

/** Reserves money before the request goes upstream. */
export type HoldCommand = {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The first key of its rotation, where that is another one: they share a budget. */
  readonly family?: string | undefined;
  readonly format: ClientFormatName;
  readonly stream: boolean;
  readonly endUser?: string | undefined;
  /** The slug in the request, aliases resolved. */
  readonly model: string;
  readonly price: Price;
  readonly amount: Micro;
  /** What the prompt may cost above its estimate (`core/price.ts`); absent: nothing. */
  readonly excess?: Micro;
  /**
   * What output may cost that is never delivered, as far as the balance allows; absent: nothing.
   */
  readonly hidden?: Micro;
  readonly promptTokens: Tokens;
  readonly outputBound: Tokens;
  /** The incarnation of the node that will end it; absent: no live node. */
  readonly boot?: string | undefined;
  /** When the request started. */
  readonly nowMs: number;
};

/**
 * `available` is the balance after the hold or, where `ok` is false, the balance that was too low.
 */
export type HoldResult = {
  readonly ok: boolean;
  readonly available: Micro;
  /**
   * Present where the amount is available but the worst case is not covered (`core/exposure.ts`).
   */
  readonly uncovered?: Uncovered;
  /** Present where the key has a budget and the balance suffices. */
  readonly budget?: BudgetAnswer;
};

/**
 * Where the hold is `ok`: what it has reserved of its key's budget beyond `amount` and `excess`.
 * Otherwise why the budget refuses it.
 */
export type BudgetAnswer = { readonly left: Micro } | BudgetRoom;

/** The rest of a budget, and how much of it open holds leave. */
export type BudgetRoom = BudgetRest & { readonly room: Micro; readonly openHolds: number };

/** A hold is answered once its transaction has decided, shortly before it is on disk. */
export type PlacedHold = HoldResult & { readonly written: Written };

/**
 * Whether a hold is on disk. `wait` rejects with `LedgerUnavailable` where the write failed, and with
 * `HoldRevoked` where the commit decided otherwise.
 */
export type Written = {
  readonly isDone: () => boolean;
  readonly wait: () => Promise<void>;
};

/** The largest worst case that fits, and the open holds of the account. */
type Uncovered = { readonly room: Micro; readonly openHolds: number };

/** The model and upstream that serve the request. */
export type Served = { readonly model: string; readonly upstream: string; readonly price: Price };

/** Raises a hold to `amount` in total; a hold that is already as large stays as it is. */
export type ExtendCommand = {
  readonly requestId: string;
  readonly amount: Micro;
  /** As in the hold. */
  readonly excess?: Micro;
};

/**
 * How much of its stream the client has received. Recovery charges by it after a crash; without a
 * checkpoint the request is not charged. Counts never decrease. Rejected where the hold has ended.
 */
export type CheckpointCommand = {
  readonly requestId: string;
  readonly served: Served;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly nowMs: number;
  /** Whether the caller waits for the answer. */
  readonly isAwaited?: boolean;
};

/** How a request ended, without what the hold already states. */
export type ReleaseCommand = {
  readonly requestId: string;
  /** Absent where no upstream answered. */
  readonly served?: Served | undefined;
  readonly outcome: Outcome;
  /** What the client of a failed request received; absent for all others. */
  readonly failure?: RequestFailure | undefined;
  readonly usage: Usage;
  /** The usage as the upstream reported it; numbers only. */
  readonly rawUsage?: string | undefined;
  /** For `explain`, as a JSON array: upstream, model, times and failure class of each attempt. */
  readonly attempts: string;
  /** For the receipt, which states the amount in USD too. */
  readonly usdPerMillion: UsdRate;
  readonly nowMs: number;
  /** No answer has confirmed the hold, so there may be none. */
  readonly isUnconfirmed?: boolean;
};

/** `charge` is the price of the usage, computed by `core/price`. */
export type SettleCommand = ReleaseCommand & {
  readonly charge: Micro;
  /** Writes off what exceeds the hold, for any balance: that output was never delivered. */
  readonly withinHold?: boolean;
};

/**
 * `debited` was charged to the account, `loss` is the part of the charge that it could not pay, and
 * `available` is its balance now.
 */
export type Settlement = {
  readonly debited: Micro;
  readonly loss: Micro;
  readonly available: Micro;
  /** This loss raised the account's unpaid charges above the bound (`core/exposure.ts`). */
  readonly restricted?: true;
  /** It cost nothing, and the books have no row of it (`memory.ts`). */
  readonly counted?: true;
};

/**
 * Ends abandoned holds: at the start, those of a dead process; later, those whose request is gone.
 * `live` are the running requests.
 */
export type RecoverCommand = {
  /** The incarnations whose holds to end; absent: all, which only a single server may use. */
  readonly incarnations?: readonly string[];
  readonly live: readonly string[];
  /** Skips younger holds: their request may not be registered as live yet. */
  readonly createdBefore: number;
  /** `expired` where this process lost the holds itself, which is a bug. */
  readonly phase: 'ended' | 'expired';
  readonly usdPerMillion: UsdRate;
  readonly nowMs: number;
};

/** One recovered hold: released where nothing was delivered, else settled. */
export type Recovered = {
  readonly requestId: string;
  readonly accountId: string;
  readonly debited: Micro;
};

/** The actor and source of a movement, for the audit trail. */
export type Author = {
  readonly operationId: string;
  readonly actor: string;
  readonly address: string | null;
};

export type CreditCommand = {
  /** The id of this movement, which is booked only once. */
  readonly creditId: string;
  readonly accountId: string;
  /** Only `adjustment` may be negative; it never takes more than is available. */
  readonly kind: 'credit' | 'grant' | 'adjustment';
  readonly amount: Micro;
  readonly reason: string;
  /** Absent: no actor of the audit trail. */
  readonly by?: Author;
  readonly nowMs: number;
};

/** `applied` is false when this credit was already booked. */
export type CreditResult = { readonly available: Micro; readonly applied: boolean };

/** Sets what a key and its replacements may spend; the limits of its account are untouched. */
export type BudgetCommand = {
  readonly accountId: string;
  /** The first key of the rotation. */
  readonly family: string;
  /** The key that was edited, for the audit trail. */
  readonly keyId: string;
  /** Absent limits stay as they are; null removes one. */
  readonly limits: Partial<BudgetLimits>;
  readonly by?: Author;
  readonly nowMs: number;
};

export type BudgetResult = {
  readonly limits: BudgetLimits;
  /** What counts against the budget: nothing while the key has never had one. */
  readonly spend: BudgetSpend;
};

/** `digest` is that of the normalized code (`core/redemption-code.ts`). */
export type RedeemCommand = {
  readonly digest: string;
  readonly accountId: string;
  readonly by?: Author;
  readonly nowMs: number;
};

/** Redeeming a code again for the same account returns the first result. */
export type RedeemResult =
  | { readonly kind: 'redeemed'; readonly amount: Micro; readonly available: Micro }
  | { readonly kind: 'refused'; readonly why: 'unknown' | 'used' | 'expired' | 'revoked' };

export type Balance = { readonly posted: Micro; readonly held: Micro; readonly available: Micro };

/**
 * The only writer of money. Answers each command once its transaction is on disk, in the order of
 * the calls. Rejects with `LedgerUnavailable` when the database failed, too many commands wait or
 * this one waited too long, and with `LedgerRefusal` when the command is invalid (unknown account
 * or request, an amount out of range). A rejected command has changed nothing.
 */
export type Ledger = {
  /**
   * Reserves `amount`. Answers `ok: false` and reserves nothing where the balance is too low, or
   * the worst case exceeds what the account's balance and open holds allow.
   */
  readonly hold: (command: HoldCommand) => Promise<PlacedHold>;
  /** Reserves more for a request, or answers `ok: false` and changes nothing. */
  readonly extend: (command: ExtendCommand) => Promise<HoldResult>;
  readonly checkpoint: (command: CheckpointCommand) => Promise<void>;
  /**
   * Ends the hold and takes the charge: from the hold, then from the available balance down to
   * zero; the rest is booked as the gateway's loss. The first of `settle` and `release` counts for
   * a request; later ones change nothing and return its settlement. If the database fails, the
   * command is kept and retried until it is booked. The promise waits for that, and rejects only
   * when the ledger closes first.
   */
  readonly settle: (command: SettleCommand) => Promise<Settlement>;
  /** Ends the hold without a charge; otherwise like `settle`. */
  readonly release: (command: ReleaseCommand) => Promise<Settlement>;
  /** Ends a bounded number of holds; repeat it until it returns none (`recoverAll`). */
  readonly recover: (command: RecoverCommand) => Promise<readonly Recovered[]>;
  /** Moves money into an account, or out of it by an adjustment, once per credit id. */
  readonly credit: (command: CreditCommand) => Promise<CreditResult>;
  readonly redeem: (command: RedeemCommand) => Promise<RedeemResult>;
  /** Effective for every hold that is decided after it, on all nodes. */
  readonly budget: (command: BudgetCommand) => Promise<BudgetResult>;
  /** Commands that are not on disk yet, including those being retried. */
  readonly pending: () => number;
  /** Writes pending commands once more and stops retrying. Resolves with the number left. */
  readonly close: () => Promise<number>;
};

/** The payload of each command. */
export type CommandTypes = {
  readonly [Name in Exclude<keyof Ledger, 'pending' | 'close'>]: Parameters<Ledger[Name]>[0];
};

/** One command as plain data, for the queue, the thread and the writer. */
export type LedgerRequest<Name extends keyof CommandTypes = keyof CommandTypes> = {
  [Each in Name]: { readonly name: Each; readonly command: CommandTypes[Each] };
}[Name];
