// Bounds the rows of requests that cost nothing: rows stay for ever, and a customer can make requests
// fail at will.

import { DAY_MS } from '../core/calendar.ts';

/** Rows of an account in a UTC day. */
export const UNPAID_ROWS_MAX = 500;

/** Above this many accounts, their counts begin again. */
const ACCOUNTS_MAX = 10_000;

export class UnpaidRows {
  readonly #taken = new Map<number, number>();
  #day = 0;

  /** Takes a row of an account, by its number. Returns false if the day has none left. */
  take(account: number, nowMs: number): boolean {
    const day = Math.floor(nowMs / DAY_MS);
    if (day !== this.#day || this.#taken.size > ACCOUNTS_MAX) this.#taken.clear();
    this.#day = day;
    const taken = this.#taken.get(account) ?? 0;
    if (taken >= UNPAID_ROWS_MAX) return false;
    this.#taken.set(account, taken + 1);
    return true;
  }
}
