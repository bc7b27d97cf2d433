// The accounts and holds that a batch is about, as the database has them: read inside the batch's
// transaction, or written by this writer while no other has committed. The commands change them here,
// and `tables.ts` writes what has changed under the condition that the rows are as they were read. So
// the database decides; this only spares a question whose answer is known.

import { addToExposure, type Exposure, NO_EXPOSURE } from '../core/exposure.ts';
import { add, type Micro, subtract, ZERO } from '../core/money.ts';
import type { Price } from '../core/price.ts';
import type { movements, openHolds, requests } from '../store/money-tables.ts';
import type { auditEvents } from '../store/tables.ts';
import type { CodeRow } from './codes.ts';
import type { RecoverCommand } from './contract.ts';
import type { Names } from './names.ts';

export type OpenHoldRow = typeof openHolds.$inferSelect;
export type RequestRow = Omit<typeof requests.$inferSelect, 'number'>;
export type MovementRow = Omit<typeof movements.$inferSelect, 'number'>;
type AuditEvent = typeof auditEvents.$inferInsert;

/** What a row of `balances` says. */
export type BalanceRow = {
  readonly number: number;
  readonly accountId: string;
  readonly posted: Micro;
  readonly held: Micro;
  readonly unpaid: Micro;
  readonly sequence: number;
  readonly head: Uint8Array | null;
  readonly receipted: Micro;
};

/** A hold with what its end needs to know. */
export type OpenHold = {
  readonly account: AccountBooks;
  /** The slug that was asked for. */
  readonly modelSlug: string;
  readonly requestedPrice: Price;
  row: OpenHoldRow;
};

/** One account while its books are open; `row` is what the database has. */
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
  }

  get available(): Micro {
    return subtract(this.posted, this.held);
  }

  /** Also where it was raised. */
  put(hold: OpenHold, row: OpenHoldRow): void {
    if (this.holds.get(row.id) === hold) this.#worst = subtract(this.#worst, hold.row.worst);
    this.#worst = add(this.#worst, row.worst);
    hold.row = row;
    this.holds.set(row.id, hold);
  }

  remove(hold: OpenHold): void {
    if (this.holds.delete(hold.row.id)) this.#worst = subtract(this.#worst, hold.row.worst);
  }

  /** The worst cases of the open holds, one of them left out. */
  exposure(but: OpenHold | undefined): Exposure {
    const sum = but === undefined ? this.#worst : subtract(this.#worst, but.row.worst);
    const count = this.holds.size - (but === undefined ? 0 : 1);
    // The largest matters only where the sum is more than there is.
    if (sum <= this.posted) return { count, sum, largest: ZERO };
    let exposure = NO_EXPOSURE;
    for (const hold of this.holds.values()) {
      if (hold !== but) exposure = addToExposure(exposure, hold.row.worst);
    }
    return exposure;
  }

  /** What the row is to say. */
  state(): BalanceRow {
    const { number, id, posted, held, unpaid, sequence, head, receipted } = this;
    return { number, accountId: id, posted, held, unpaid, sequence, head, receipted };
  }
}

/** What the end of a request took, where it has ended before. */
export type EndedRequest = {
  readonly account: AccountBooks;
  readonly debited: Micro;
  readonly loss: Micro;
};

/** Above it, all are looked up again. */
const ACCOUNTS_MAX = 10_000;

export class Memory {
  readonly accounts = new Map<string, AccountBooks>();
  readonly accountsByNumber = new Map<number, AccountBooks>();
  readonly holds = new Map<string, OpenHold>();

  /** Whether it has more accounts than a server has at work. */
  isFull(): boolean {
    return this.accounts.size > ACCOUNTS_MAX;
  }

  /** After a rollback, or where another connection has committed. */
  forget(): void {
    this.accounts.clear();
    this.accountsByNumber.clear();
    this.holds.clear();
  }

  /** With no open hold yet. */
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

  /** An account as it was read, with all of its open holds. */
  async load(names: Names, row: BalanceRow, holds: readonly OpenHoldRow[]): Promise<void> {
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
  }

  /** Where another node has written it. */
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

/** What was read for one batch alone. */
export type BatchFacts = {
  readonly ended: ReadonlyMap<string, EndedRequest>;
  readonly movements: ReadonlyMap<string, MovementRow>;
  readonly codes: ReadonlyMap<string, CodeRow>;
  /** Of each recovery, the holds that it ends. */
  readonly recoverable: ReadonlyMap<RecoverCommand, readonly string[]>;
};

/** What a batch changes. */
export class Changes {
  readonly accounts = new Set<AccountBooks>();
  /** Holds that begin, and those whose row is another one now. */
  readonly opened = new Set<OpenHold>();
  readonly changed = new Set<OpenHold>();
  /** By the ids of the requests. */
  readonly requests = new Map<string, RequestRow>();
  /** The ids of holds that the database has and that have ended. */
  readonly ended: string[] = [];
  /** By the ids of the transfers. */
  readonly movements = new Map<string, MovementRow>();
  /** By the digests of the codes. */
  readonly redeemed = new Map<string, { readonly accountId: string; readonly at: number }>();
  readonly events: AuditEvent[] = [];

  end(hold: OpenHold): void {
    this.changed.delete(hold);
    if (!this.opened.delete(hold)) this.ended.push(hold.row.id);
  }

  change(hold: OpenHold): void {
    if (!this.opened.has(hold)) this.changed.add(hold);
  }
}
