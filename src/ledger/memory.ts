// Caches the accounts and holds of batches: read inside the batch's transaction, or written by this
// writer while no other connection has committed. Commands change them here, and `tables.ts` writes
// the changes on the condition that the rows are as they were read. So the database decides; the
// cache only saves reads.

import { DAY_MS } from '../core/calendar.ts';
import { addToExposure, type Exposure, NO_EXPOSURE } from '../core/exposure.ts';
import type { BudgetSpend } from '../core/key-budget.ts';
import { add, type Micro, subtract, ZERO } from '../core/money.ts';
import type { Price } from '../core/price.ts';
import type * as money from '../store/money-tables.ts';
import type { auditEvents } from '../store/tables.ts';
import type { CodeRow } from './codes.ts';
import type { RecoverCommand } from './contract.ts';
import type { Names } from './names.ts';

export type BalanceRow = typeof money.balances.$inferSelect;
export type OpenHoldRow = typeof money.openHolds.$inferSelect;
export type RequestRow = Omit<typeof money.requests.$inferSelect, 'number'>;
export type MovementRow = Omit<typeof money.movements.$inferSelect, 'number'>;
export type KeyBudgetRow = Omit<typeof money.keyBudgets.$inferSelect, 'number'>;
type AuditEvent = typeof auditEvents.$inferInsert;

/** A hold with what is needed to end it. */
export type OpenHold = {
  readonly account: AccountBooks;
  /** The slug in the request. */
  readonly modelSlug: string;
  readonly requestedPrice: Price;
  row: OpenHoldRow;
};

/** One cached account; `row` is what the database has. */
export class AccountBooks {
  readonly number: number;
  readonly id: string;
  row: BalanceRow;
  posted: Micro;
  held: Micro;
  unpaid: Micro;
  sequence: number;
  head: Uint8Array | null;
  receipted: Micro;
  /** Every open hold of the account. */
  readonly holds = new Map<string, OpenHold>();
  /**
   * The budgets that were read or written, by the number of the family; undefined: it has none.
   * The others are read when a command needs them, because revoked keys leave any number behind.
   */
  readonly budgets = new Map<number, KeyBudgetRow | undefined>();
  /** How many the account has: most accounts have none to read. */
  budgetCount: number;
  #worst = ZERO;

  constructor(row: BalanceRow) {
    this.number = row.number;
    this.id = row.accountId;
    this.row = row;
    this.posted = row.posted;
    this.held = row.held;
    this.unpaid = row.unpaid;
    this.sequence = row.sequence;
    this.head = row.head;
    this.receipted = row.receipted;
    this.budgetCount = row.budgets;
  }

  get available(): Micro {
    return subtract(this.posted, this.held);
  }

  /** Adds a hold, or replaces an extended one. */
  put(hold: OpenHold, row: OpenHoldRow): void {
    if (this.holds.get(row.id) === hold) this.#worst = subtract(this.#worst, hold.row.worst);
    this.#worst = add(this.#worst, row.worst);
    hold.row = row;
    this.holds.set(row.id, hold);
  }

  remove(hold: OpenHold): void {
    if (this.holds.delete(hold.row.id)) this.#worst = subtract(this.#worst, hold.row.worst);
  }

  /** The worst cases of the open holds, without `but`. */
  exposure(but: OpenHold | undefined): Exposure {
    const sum = but === undefined ? this.#worst : subtract(this.#worst, but.row.worst);
    const count = this.holds.size - (but === undefined ? 0 : 1);
    // The largest matters only where the sum exceeds the balance.
    if (sum <= this.posted) return { count, sum, largest: ZERO };
    let exposure = NO_EXPOSURE;
    for (const hold of this.holds.values()) {
      if (hold !== but) exposure = addToExposure(exposure, hold.row.worst);
    }
    return exposure;
  }

  /** The new content of the row. */
  state(): BalanceRow {
    const { number, id, posted, held, unpaid, sequence, head, receipted, budgetCount } = this;
    const chain = { sequence, head, receipted };
    return { number, accountId: id, posted, held, unpaid, ...chain, budgets: budgetCount };
  }
}

/** The settlement of a request that ended before. */
export type EndedRequest = {
  readonly account: AccountBooks;
  readonly debited: Micro;
  readonly loss: Micro;
};

/** Above it, the cache is emptied. */
const ACCOUNTS_MAX = 10_000;

export class Memory {
  readonly accounts = new Map<string, AccountBooks>();
  readonly accountsByNumber = new Map<number, AccountBooks>();
  readonly holds = new Map<string, OpenHold>();
  /** Not of the database, and never forgotten. */
  readonly unpaidRows = new UnpaidRows();

  /** Whether it holds more accounts than a server usually has active. */
  isFull(): boolean {
    return this.accounts.size > ACCOUNTS_MAX;
  }

  /** Call it after a rollback, and where another connection has committed. */
  forget(): void {
    this.accounts.clear();
    this.accountsByNumber.clear();
    this.holds.clear();
  }

  hasBudget(accountId: string, family: number): boolean {
    return this.accounts.get(accountId)?.budgets.get(family) !== undefined;
  }

  /** Adds an account without open holds. */
  putAccount(row: BalanceRow): AccountBooks {
    const account = new AccountBooks(row);
    this.accounts.set(account.id, account);
    this.accountsByNumber.set(account.number, account);
    return account;
  }

  putHold(hold: OpenHold): void {
    hold.account.put(hold, hold.row);
    this.holds.set(hold.row.id, hold);
  }

  /** Adds an account as it was read, with all of its open holds; the caller reads their budgets. */
  async load(names: Names, row: BalanceRow, holds: readonly OpenHoldRow[]): Promise<AccountBooks> {
    const named = holds.flatMap((hold) => [hold.model, hold.upstream, hold.modelServed]);
    await names.read(
      named,
      holds.flatMap((hold) => [hold.price, hold.priceServed]),
    );
    const account = this.putAccount(row);
    for (const hold of holds) {
      const modelSlug = names.textOf(hold.model);
      const requestedPrice = names.priceOf(hold.price);
      this.putHold({ account, modelSlug, requestedPrice, row: hold });
    }
    return account;
  }

  /** Call it where another node has written the account. */
  forgetAccount(account: AccountBooks): void {
    this.accounts.delete(account.id);
    this.accountsByNumber.delete(account.number);
    for (const id of account.holds.keys()) this.holds.delete(id);
  }

  removeHold(hold: OpenHold): void {
    hold.account.remove(hold);
    this.holds.delete(hold.row.id);
  }
}

/** What was read for one batch only. */
export type BatchFacts = {
  readonly ended: ReadonlyMap<string, EndedRequest>;
  readonly movements: ReadonlyMap<string, MovementRow>;
  readonly codes: ReadonlyMap<string, CodeRow>;
  /** By family: what its keys spent before it gets its first budget. */
  readonly spentBefore: ReadonlyMap<string, BudgetSpend>;
  /** The holds that each recovery ends. */
  readonly recoverable: ReadonlyMap<RecoverCommand, readonly string[]>;
};

/** The changes of a batch. */
export class Changes {
  readonly accounts = new Set<AccountBooks>();
  /** New holds, and those whose row has changed. */
  readonly opened = new Set<OpenHold>();
  readonly changed = new Set<OpenHold>();
  /** By request id. */
  readonly requests = new Map<string, RequestRow>();
  /** The ids of ended holds that the database has. */
  readonly ended: string[] = [];
  /** By transfer id. */
  readonly movements = new Map<string, MovementRow>();
  /** By the digest of the code. */
  readonly redeemed = new Map<string, { readonly accountId: string; readonly at: number }>();
  readonly events: AuditEvent[] = [];
  /** By the number of the family. */
  readonly budgets = new Map<number, KeyBudgetRow>();

  end(hold: OpenHold): void {
    this.changed.delete(hold);
    if (!this.opened.delete(hold)) this.ended.push(hold.row.id);
  }

  change(hold: OpenHold): void {
    if (!this.opened.has(hold)) this.changed.add(hold);
  }
}

/** Rows of an account in a UTC day. */
export const UNPAID_ROWS_MAX = 500;

/** Above this many accounts, their counts begin again. */
const UNPAID_ACCOUNTS_MAX = 10_000;

/**
 * Bounds the rows of requests that cost nothing: rows stay for ever, and a customer can make
 * requests fail at will.
 */
class UnpaidRows {
  readonly #taken = new Map<number, number>();
  #day = 0;

  /** Takes a row of an account, by its number. Returns false if the day has none left. */
  take(account: number, nowMs: number): boolean {
    const day = Math.floor(nowMs / DAY_MS);
    if (day !== this.#day || this.#taken.size > UNPAID_ACCOUNTS_MAX) this.#taken.clear();
    this.#day = day;
    const taken = this.#taken.get(account) ?? 0;
    if (taken >= UNPAID_ROWS_MAX) return false;
    this.#taken.set(account, taken + 1);
    return true;
  }
}
