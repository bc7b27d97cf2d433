// What the ledger is asked to do and what it answers: plain data, so that the ledger can live in a
// thread of its own. Amounts are in 10⁻⁶ service token, instants in Unix milliseconds.

import type { ClientFormatName } from '../core/admit.ts';
import type { JsonValue, Outcome, Usage } from '../core/generation.ts';
import type { Micro } from '../core/money.ts';
import type { Price } from '../core/price.ts';

export type HoldCommand = {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The slug that was asked for, aliases resolved. */
  readonly model: string;
  readonly price: Price;
  readonly amount: Micro;
  readonly promptTokens: number;
  readonly outputBound: number;
  readonly nowMs: number;
};

/** `available` is what is left: after the hold where there is one, else what did not suffice. */
export type HoldResult = { readonly ok: boolean; readonly available: Micro };

/** How a dispatched request ended; what the hold knows already is not repeated. */
export type ReleaseCommand = {
  readonly requestId: string;
  readonly format: ClientFormatName;
  readonly stream: boolean;
  /** What answered; absent where nothing did. */
  readonly served?: { readonly model: string; readonly upstream: string; readonly price: Price };
  readonly outcome: Outcome;
  readonly usage: Usage;
  readonly endUser?: string;
  /** For `explain`: upstream, model, times and failure class of each attempt. */
  readonly attempts: readonly JsonValue[];
  readonly startedAtMs: number;
  readonly nowMs: number;
};

/** `charge` is what the usage costs, computed by `core/price`. */
export type SettleCommand = ReleaseCommand & { readonly charge: Micro };

/**
 * `debited` was taken from the account and `loss` is the part of the charge that it could not pay;
 * `available` is the account's balance now.
 */
export type Settlement = {
  readonly debited: Micro;
  readonly loss: Micro;
  readonly available: Micro;
};

export type CreditCommand = {
  /** Names this one movement: the same id is never credited twice. */
  readonly creditId: string;
  readonly accountId: string;
  readonly amount: Micro;
  readonly reason: string;
  readonly nowMs: number;
};

/** `applied` is false when this credit had been booked before. */
export type CreditResult = { readonly available: Micro; readonly applied: boolean };

export type Balance = { readonly posted: Micro; readonly held: Micro; readonly available: Micro };
