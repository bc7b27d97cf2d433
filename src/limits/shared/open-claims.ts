// The claims of this thread that have not ended, in its own memory: which requests they are of, and
// until when each may hold its slot before somebody asks whether its request still lives.

import { LEASE_MS } from '../account.ts';
import type { ClaimRequest, OpenClaimRecord } from '../contract.ts';
import type { Entries, Held } from './entries.ts';
import type { SharedPeriod } from './periods.ts';

export type OpenClaim = OpenClaimRecord & {
  readonly held: Held;
  /** What it has reserved of its day and month. */
  readonly tokens: number;
  readonly periods: readonly SharedPeriod[];
  hasSlot: boolean;
  leaseUntil: number;
};

type Reserving = Pick<OpenClaim, 'held' | 'tokens' | 'periods'>;

export type OpenClaims = {
  /** Keeps the entries until it ends. */
  readonly add: (request: ClaimRequest, taken: Reserving, nowMs: number) => OpenClaim;
  readonly freeSlot: (open: OpenClaim) => void;
  /** What it used counts by now, or will never be known; its entries are still held. */
  readonly unreserve: (open: OpenClaim) => void;
  /** Answers whether the entries are still held, which is then up to the caller. */
  readonly end: (open: OpenClaim) => boolean;
  /** Lets go of the claims of an account whose request is gone. */
  readonly roll: (accountId: string, nowMs: number) => void;
  readonly rollAll: (nowMs: number) => void;
  /** All of them, and those whose request is gone for the last time. */
  readonly list: (nowMs: number) => OpenClaimRecord[];
};

export function createOpenClaims(
  entries: Entries,
  isLive: (requestId: string) => boolean,
): OpenClaims {
  const byAccount = new Map<string, Set<OpenClaim>>();

  function freeSlot(open: OpenClaim): void {
    if (!open.hasSlot) return;
    open.hasSlot = false;
    entries.models.addSlots(open.held.model, -1);
    entries.accounts.addSlots(open.held.account, -1);
  }

  function unreserve({ held, tokens, periods }: OpenClaim): void {
    for (const { slot } of periods) entries.accounts.addReserved(held.account, slot, -tokens);
  }

  function end(open: OpenClaim): boolean {
    const own = byAccount.get(open.accountId);
    if (own?.delete(open) !== true) return false;
    if (own.size === 0) byAccount.delete(open.accountId);
    freeSlot(open);
    return true;
  }

  function roll(accountId: string, nowMs: number): void {
    for (const open of byAccount.get(accountId) ?? []) {
      if (open.leaseUntil > nowMs) continue;
      if (isLive(open.requestId)) open.leaseUntil = nowMs + LEASE_MS;
      else if (end(open)) {
        unreserve(open);
        entries.release(open.held);
      }
    }
  }

  function rollAll(nowMs: number): void {
    for (const accountId of [...byAccount.keys()]) roll(accountId, nowMs);
  }

  return {
    add({ requestId, accountId, startedAt }, { held, tokens, periods }, nowMs) {
      const lease = { hasSlot: true, leaseUntil: nowMs + LEASE_MS };
      const open = { requestId, accountId, startedAt, held, tokens, periods, ...lease };
      const own = byAccount.get(accountId);
      if (own === undefined) byAccount.set(accountId, new Set([open]));
      else own.add(open);
      return open;
    },
    freeSlot,
    unreserve,
    end,
    roll,
    rollAll,
    list(nowMs) {
      const listed = [...byAccount.values()].flatMap((own) =>
        [...own].map(({ requestId, accountId, startedAt }) => ({
          requestId,
          accountId,
          startedAt,
        })),
      );
      rollAll(nowMs);
      return listed;
    },
  };
}
