// How money comes into an account, or by a correction out of it: credits, grants, adjustments and
// codes, once each. Called by `commands.ts`, inside its transaction. The event in the audit trail is
// written here too, so that there is never a movement without it, whatever dies when.

import { assert } from '../core/assert.ts';
import { formatTokens, type Micro } from '../core/money.ts';
import { codeId } from './codes.ts';
import type {
  Author,
  CreditCommand,
  CreditResult,
  RedeemCommand,
  RedeemResult,
} from './contract.ts';
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

/** What the audit trail calls it. */
const ACTIONS = {
  credit: 'money.credited',
  grant: 'money.granted',
  adjustment: 'money.adjusted',
  redemption: 'code.redeemed',
} as const;

type Movement = {
  readonly transferId: string;
  /** What the audit trail is told that it is about. */
  readonly subject: string;
  readonly accountId: string;
  readonly kind: keyof typeof COUNTER_ACCOUNTS;
  readonly amount: Micro;
  readonly reason: string;
  readonly by?: Author;
  readonly nowMs: number;
};

export function createCredits(parts: {
  readonly statements: Statements;
  readonly appendReceipt: AppendReceipt;
}) {
  const { statements, appendReceipt } = parts;

  async function credit(command: CreditCommand): Promise<CreditResult> {
    const { creditId, accountId, kind, amount } = command;
    const transferId = `credit:${creditId}`;
    const booked = await statements.findEntries(transferId);
    if (booked.length > 0) {
      const leg = booked.find((entry) => entry.ledgerAccount === `customer:${accountId}`);
      if (leg?.amount === amount && leg.kind === kind) {
        return { available: (await statements.balance(accountId)).available, applied: false };
      }
      throw new LedgerRefusal(
        'This credit id was used before, for another account, kind or amount.',
      );
    }
    if (amount === 0n) throw new LedgerRefusal('An adjustment by nothing is not booked.');
    return { available: await move({ ...command, transferId, subject: creditId }), applied: true };
  }

  async function redeem({ digest, accountId, by, nowMs }: RedeemCommand): Promise<RedeemResult> {
    const code = await statements.findCode(digest);
    if (code === undefined) return { kind: 'refused', why: 'unknown' };
    const { amount, reason } = code;
    if (code.redeemedBy === accountId) {
      const { available } = await statements.balance(accountId);
      return { kind: 'redeemed', amount, available };
    }
    if (code.redeemedBy !== null) return { kind: 'refused', why: 'used' };
    if (code.revokedAt !== null) return { kind: 'refused', why: 'revoked' };
    if (code.expiresAt !== null && code.expiresAt <= nowMs) {
      return { kind: 'refused', why: 'expired' };
    }
    // First, because whoever revokes a code has the code before the audit trail, too.
    assert(await statements.redeemCode(digest, accountId, nowMs), 'an open code can be used');
    const transferId = `redemption:${digest}`;
    const available = await move({
      transferId,
      subject: codeId(code),
      accountId,
      kind: 'redemption',
      amount,
      reason,
      ...(by === undefined ? {} : { by }),
      nowMs,
    });
    return { kind: 'redeemed', amount, available };
  }

  /** Books one movement, its receipt and its event. Answers what is available then. */
  async function move(movement: Movement): Promise<Micro> {
    const { transferId, accountId, kind, amount, reason, nowMs } = movement;
    const left = await statements.move(accountId, amount);
    if (left === undefined) {
      await statements.balance(accountId);
      throw new LedgerRefusal(
        amount < 0n
          ? 'The adjustment would take more than what is available.'
          : 'The credit would take the balance above the largest amount.',
      );
    }
    await statements.insertTransfer({
      transferId,
      ledgerAccount: `customer:${accountId}`,
      counterAccount: COUNTER_ACCOUNTS[kind],
      amount,
      kind,
      at: nowMs,
      reason,
    });
    await appendReceipt({ kind, accountId, transferId, at: nowMs, amount, ...left });
    if (movement.by !== undefined) {
      await statements.insertAuditEvent({
        ...movement.by,
        at: nowMs,
        action: ACTIONS[kind],
        accountId,
        subject: movement.subject,
        detail: JSON.stringify({ amount: formatTokens(amount), reason }),
      });
    }
    return left.available;
  }

  return { credit, redeem };
}
