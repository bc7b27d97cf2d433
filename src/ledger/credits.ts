// How money comes into an account, or by a correction out of it: credits, grants, adjustments and
// codes, once each. Called by `commands.ts`, inside its transaction.

import { assert } from '../core/assert.ts';
import type { Micro } from '../core/money.ts';
import type { CreditCommand, CreditResult, RedeemCommand, RedeemResult } from './contract.ts';
import { LedgerRefusal } from './error.ts';
import type { AppendReceipt } from './receipts.ts';
import type { Statements } from './statements.ts';

/** Where the other leg of a movement is booked. */
const COUNTER_ACCOUNTS = {
  credit: 'operator:credits',
  grant: 'operator:promotion',
  redemption: 'operator:promotion',
  adjustment: 'operator:adjustments',
} as const;

type Movement = {
  readonly transferId: string;
  readonly accountId: string;
  readonly kind: keyof typeof COUNTER_ACCOUNTS;
  readonly amount: Micro;
  readonly reason: string;
  readonly nowMs: number;
};

export function createCredits(parts: {
  readonly statements: Statements;
  readonly appendReceipt: AppendReceipt;
}) {
  const { statements, appendReceipt } = parts;

  function credit(command: CreditCommand): CreditResult {
    const { creditId, accountId, kind, amount } = command;
    const transferId = `credit:${creditId}`;
    const booked = statements.findEntries(transferId);
    if (booked.length > 0) {
      const leg = booked.find((entry) => entry.ledgerAccount === `customer:${accountId}`);
      if (leg?.amount === amount && leg.kind === kind) {
        return { available: statements.balance(accountId).available, applied: false };
      }
      throw new LedgerRefusal(
        'This credit id was used before, for another account, kind or amount.',
      );
    }
    if (amount === 0n) throw new LedgerRefusal('An adjustment by nothing is not booked.');
    return { available: move({ ...command, transferId }), applied: true };
  }

  function redeem({ digest, accountId, nowMs }: RedeemCommand): RedeemResult {
    const code = statements.findCode(digest);
    if (code === undefined) return { kind: 'refused', why: 'unknown' };
    const { amount, reason } = code;
    if (code.redeemedBy === accountId) {
      const { available } = statements.balance(accountId);
      return { kind: 'redeemed', amount, available };
    }
    if (code.redeemedBy !== null) return { kind: 'refused', why: 'used' };
    if (code.revokedAt !== null) return { kind: 'refused', why: 'revoked' };
    if (code.expiresAt !== null && code.expiresAt <= nowMs) {
      return { kind: 'refused', why: 'expired' };
    }
    const transferId = `redemption:${digest}`;
    const available = move({ transferId, accountId, kind: 'redemption', amount, reason, nowMs });
    assert(statements.redeemCode(digest, accountId, nowMs), 'an open code can be used');
    return { kind: 'redeemed', amount, available };
  }

  /** Books one movement and its receipt. Answers what is available then. */
  function move(movement: Movement): Micro {
    const { transferId, accountId, kind, amount, reason, nowMs } = movement;
    const left = statements.move(accountId, amount);
    if (left === undefined) {
      statements.balance(accountId);
      throw new LedgerRefusal(
        amount < 0n
          ? 'The adjustment would take more than what is available.'
          : 'The credit would take the balance above the largest amount.',
      );
    }
    statements.insertTransfer({
      transferId,
      ledgerAccount: `customer:${accountId}`,
      counterAccount: COUNTER_ACCOUNTS[kind],
      amount,
      kind,
      at: nowMs,
      reason,
    });
    appendReceipt({ kind, accountId, transferId, at: nowMs, amount, ...left });
    return left.available;
  }

  return { credit, redeem };
}
