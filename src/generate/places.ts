// Counts the requests of each account that are checked at the moment, and wakes those that wait for
// one of them to end.

import { takeOff } from '../core/counts.ts';

export class Places {
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Returns whether the account had taken fewer than `most`. Each one needs a `give`. */
  take(accountId: string, most: number): boolean {
    const taken = this.#taken.get(accountId) ?? 0;
    if (taken >= most) return false;
    this.#taken.set(accountId, taken + 1);
    this.wakeNext(accountId);
    return true;
  }

  give(accountId: string): void {
    takeOff(this.#taken, accountId);
    this.wakeNext(accountId);
  }

  /** Resolves when a place may be free: the previous request took one, gave one, or was refused. */
  wait(accountId: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.getOrInsert(accountId, []).push(resolve);
    });
  }

  /** Runs in a later turn, after the request that left has claimed its limits. */
  wakeNext(accountId: string): void {
    const waiting = this.#waiting.get(accountId);
    if (waiting === undefined) return;
    if (waiting.length === 0) this.#waiting.delete(accountId);
    else setImmediate(() => waiting.shift()?.());
  }
}
