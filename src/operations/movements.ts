// Money that an operator moves: payments, gifts, and corrections up or down. Each is booked once by
// its id, together with its audit event, even if repeated. Called by `tollgate account …` and the
// console.

import { isoTime } from '../core/calendar.ts';
import { createId } from '../core/id.ts';
import { formatTokens, type Micro } from '../core/money.ts';
import type { Account } from '../identity/accounts.ts';
import { type Actor, authorOf } from '../identity/audit.ts';
import type { CreditCommand } from '../ledger/contract.ts';
import { LedgerSilent } from '../ledger/error.ts';
import type { ListedMovement } from '../ledger/receipt-list.ts';
import { parseAdjustment, parseAmount, requireReason } from './amounts.ts';
import type { OperationDependencies } from './dependencies.ts';
import { OperationError } from './error.ts';

export type MovementKind = CreditCommand['kind'];

/** As the operator enters it. */
export type MovementRequest = {
  readonly kind: MovementKind;
  readonly account: Account;
  readonly amount: string;
  readonly reason: string;
  /** The id of the movement, which is booked only once. Absent: a new one. */
  readonly id?: string | undefined;
};

type Movement = {
  readonly id: string;
  readonly kind: MovementKind;
  readonly amount: Micro;
  readonly reason: string;
  /** False where it was already booked, and nothing has changed now. */
  readonly applied: boolean;
  /** The account's available balance now. */
  readonly available: Micro;
};

/**
 * Throws `invalid_credit_id`, `invalid_amount` and `invalid_reason` before it calls the ledger, and
 * the ledger's errors.
 */
export async function moveMoney(
  parts: Pick<OperationDependencies, 'ledger' | 'clock' | 'randomBytes'>,
  { kind, account, amount: text, reason: words, id: given }: MovementRequest,
  actor: Actor,
): Promise<Movement> {
  const amount = kind === 'adjustment' ? parseAdjustment(text) : parseAmount(text);
  if (given !== undefined) requireId(given);
  const reason = requireReason(words);
  const id = given ?? createId('cred_', parts.randomBytes);
  const booked = parts.ledger.credit({
    creditId: id,
    accountId: account.id,
    kind,
    amount,
    reason,
    by: authorOf(actor, createId('op_', parts.randomBytes)),
    nowMs: parts.clock(),
  });
  const { applied, available } = await booked.catch((error: unknown) => {
    throw error instanceof LedgerSilent ? unknownMovement(id, error) : error;
  });
  return { id, kind, amount, reason, applied, available };
}

/** A retry under another id could book it twice. */
function unknownMovement(id: string, cause: LedgerSilent): LedgerSilent {
  return new LedgerSilent(
    `It is unknown whether this was booked. Retry with the id ${id}: it is booked once.`,
    { cause },
  );
}

/** Throws `invalid_credit_id`. */
export function requireId(id: string): void {
  if (/^[\x21-\x7e]{1,100}$/.test(id)) return;
  throw new OperationError(
    'invalid_credit_id',
    'The id is not valid. It needs 1 to 100 printable ASCII characters without spaces.',
  );
}

/** A movement that was just requested. */
export function movedRecord({ id, kind, amount, reason, applied }: Movement) {
  return { id, kind, amount: formatTokens(amount), reason, applied } as const;
}

/** A movement in a list, redeemed codes included. */
export function movementRecord(movement: ListedMovement) {
  return {
    sequence: movement.sequence,
    transfer_id: movement.transferId,
    kind: movement.kind,
    amount: formatTokens(movement.amount),
    at: isoTime(movement.at),
    reason: movement.reason,
    balance: formatTokens(movement.posted),
  } as const;
}
