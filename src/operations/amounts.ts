// Parses what operators enter to move money: amounts in service tokens, and the reason for the
// books. Shared by the command line and the console. Input is never rounded.

import { AMOUNT_MAX, MICRO_DECIMALS, type Micro, micro, parseDecimal } from '../core/money.ts';
import { OperationError } from './error.ts';

/** Parses a positive amount of service tokens. Throws `invalid_amount`. */
export function parseAmount(text: string): Micro {
  const amount = parseDecimal(text, MICRO_DECIMALS);
  if (amount !== undefined && amount > 0n && amount <= AMOUNT_MAX) return micro(amount);
  throw new OperationError(
    'invalid_amount',
    'The amount is not valid. It needs to be a positive number of service tokens, at most 1000000000000, with at most 6 decimals, such as 1000000 or 0.5.',
  );
}

/** Parses an amount of either sign, but not zero. Throws `invalid_amount`. */
export function parseAdjustment(text: string): Micro {
  const amount = parseDecimal(text.replace(/^\+/, ''), MICRO_DECIMALS);
  const size = amount === undefined || amount >= 0n ? amount : -amount;
  if (amount !== undefined && size !== undefined && size > 0n && size <= AMOUNT_MAX)
    return micro(amount);
  throw new OperationError(
    'invalid_amount',
    'The amount is not valid. It needs to be a number of service tokens above or below zero, at most 1000000000000, with at most 6 decimals, such as 12.5 or -12.5.',
  );
}

/** The reason that the books show beside an amount; throws `invalid_reason`. */
export function requireReason(text: string): string {
  const reason = text.trim();
  if (reason.length > 0 && reason.length <= 500) return reason;
  throw new OperationError(
    'invalid_reason',
    'The reason is not valid. It needs 1 to 500 characters; it is kept in the books for good.',
  );
}
