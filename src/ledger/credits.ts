// Books movements: credits, grants, adjustments and codes, each once. Called by `commands.ts`. The
// audit event is written in the same transaction, so a crash cannot separate the two.

import {
  AMOUNT_MAX,
  add,
  formatTokens,
  larger,
  type Micro,
  smaller,
  subtract,
  ZERO,
} from '../core/money.ts';
import { accountOf, type LedgerBatch } from './batch.ts';
import { codeId } from './codes.ts';
import type {
  Author,
  CreditCommand,
  CreditResult,
  RedeemCommand,
  RedeemResult,
} from './contract.ts';
import { LedgerRefusal } from './error.ts';
import type { AccountBooks } from './memory.ts';
import { receiptOf } from './receipts.ts';

/** The action in the audit trail. */
const ACTIONS = {
  credit: 'money.credited',
  grant: 'money.granted',
  adjustment: 'money.adjusted',
  redemption: 'code.redeemed',
} as const;

type Movement = {
  readonly transferId: string;
  /** The subject of the event in the audit trail. */
  readonly subject: string;
  readonly kind: keyof typeof ACTIONS;
  readonly amount: Micro;
  readonly reason: string;
  readonly by?: Author;
  readonly nowMs: number;
};

export function credit(batch: LedgerBatch, command: CreditCommand): CreditResult {
  const { creditId, accountId, kind, amount } = command;
  const transferId = `credit:${creditId}`;
  const account = accountOf(batch, accountId);
  const { facts, changes } = batch;
  const booked = facts.movements.get(transferId) ?? changes.movements.get(transferId);
  if (booked !== undefined) {
    if (booked.account !== account.number || booked.amount !== amount || booked.kind !== kind) {
      throw new LedgerRefusal(
        'This credit id was used before, for another account, kind or amount.',
      );
    }
    return { available: account.available, applied: false };
  }
  if (amount === 0n) throw new LedgerRefusal('An adjustment by nothing is not booked.');
  move(batch, account, { ...command, transferId, subject: creditId });
  return { available: account.available, applied: true };
}

export function redeem(batch: LedgerBatch, command: RedeemCommand): RedeemResult {
  const { digest, accountId, nowMs } = command;
  const code = batch.facts.codes.get(digest);
  if (code === undefined) return { kind: 'refused', why: 'unknown' };
  const { amount, reason } = code;
  const account = accountOf(batch, accountId);
  const redeemedBy = batch.changes.redeemed.get(digest)?.accountId ?? code.redeemedBy;
  if (redeemedBy === accountId) return { kind: 'redeemed', amount, available: account.available };
  if (redeemedBy !== null) return { kind: 'refused', why: 'used' };
  if (code.revokedAt !== null) return { kind: 'refused', why: 'revoked' };
  if (code.expiresAt !== null && code.expiresAt <= nowMs) {
    return { kind: 'refused', why: 'expired' };
  }
  const transferId = `redemption:${digest}`;
  const kind = 'redemption';
  move(batch, account, { ...command, transferId, subject: codeId(code), kind, amount, reason });
  batch.changes.redeemed.set(digest, { accountId, at: nowMs });
  return { kind: 'redeemed', amount, available: account.available };
}

/** Books one movement with its receipt and its event. */
function move({ changes }: LedgerBatch, account: AccountBooks, movement: Movement): void {
  const { transferId, kind, amount, reason, nowMs } = movement;
  const available = add(account.available, amount);
  if (available < 0n) {
    throw new LedgerRefusal('The adjustment would take more than what is available.');
  }
  const posted = add(account.posted, amount);
  if (posted > AMOUNT_MAX) {
    throw new LedgerRefusal('The credit would take the balance above the largest amount.');
  }
  const stated = receiptOf(account, add(account.receipted, amount), available, {
    kind,
    transferId,
    at: nowMs,
    amount,
  });
  const previous = account.head;
  account.posted = posted;
  // Incoming money lifts a restriction that unpaid charges caused.
  account.unpaid = smaller(account.unpaid, larger(subtract(account.unpaid, amount), ZERO));
  account.sequence = stated.sequence;
  account.head = stated.hash;
  account.receipted = stated.posted;
  changes.accounts.add(account);
  changes.movements.set(transferId, {
    transferId,
    account: account.number,
    kind,
    amount,
    at: nowMs,
    reason,
    previous,
    ...stated,
  });
  if (movement.by === undefined) return;
  changes.events.push({
    ...movement.by,
    at: nowMs,
    action: ACTIONS[kind],
    accountId: account.id,
    subject: movement.subject,
    detail: JSON.stringify({ amount: formatTokens(amount), reason }),
  });
}
