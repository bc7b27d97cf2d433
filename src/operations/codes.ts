// Redemption codes: operators create, list and revoke them, customers redeem them. A code is shown
// once. Called by `tollgate code …`, the console and the customer's pages.

import { isoTime } from '../core/calendar.ts';
import { createId } from '../core/id.ts';
import { formatTokens, type Micro } from '../core/money.ts';
import { createRedemptionCode, readRedemptionCode } from '../core/redemption-code.ts';
import { type Actor, authorOf, writeAuditEvent } from '../identity/audit.ts';
import {
  type CodeRow,
  type Codes,
  codeDigest,
  codeId,
  codeStatus,
  createCodes,
} from '../ledger/codes.ts';
import type { RedeemResult } from '../ledger/contract.ts';
import { parseAmount, requireReason } from './amounts.ts';
import type { OperationDependencies } from './dependencies.ts';
import { OperationError } from './error.ts';

/** Enough for any print run, and small enough for one transaction. */
export const CODE_COUNT_MAX = 10_000;

type Books = Pick<OperationDependencies, 'database' | 'clock' | 'randomBytes'>;

/** As the operator enters it; each code is worth `amount` service tokens. */
export type CodesRequest = {
  readonly amount: string;
  readonly reason: string;
  /** From 1 to `CODE_COUNT_MAX`; checked by the caller. */
  readonly count: number;
  /** Unix milliseconds; absent: never. */
  readonly expiresAt?: number | undefined;
};

/** With the code itself, which cannot be shown again. */
export type NewCode = { readonly code: string } & ReturnType<typeof codeRecord>;

/** Throws `invalid_amount`, `invalid_reason` and `invalid_expiry`. */
export async function createNewCodes(
  books: Books,
  request: CodesRequest,
  actor: Actor,
): Promise<readonly NewCode[]> {
  const amount = parseAmount(request.amount);
  const reason = requireReason(request.reason);
  const { count, expiresAt } = request;
  const nowMs = books.clock();
  if (expiresAt !== undefined && expiresAt <= nowMs) {
    throw new OperationError('invalid_expiry', 'The expiry date is in the past. Give a later one.');
  }
  const texts = Array.from({ length: count }, () => createRedemptionCode(books.randomBytes));
  const codes = await openCodes(books, actor).add(texts, { amount, reason, expiresAt, nowMs });
  const madeMs = books.clock();
  return texts.flatMap((code, index) => {
    const row = codes[index];
    return row === undefined ? [] : [{ code, ...codeRecord(row, madeMs) }];
  });
}

/** By its id, or by its text as entered. Throws `LedgerRefusal`. */
export async function revokeCode(books: Books, name: string, actor: Actor): Promise<CodeRow> {
  const typed = readRedemptionCode(name);
  const digest = typed === undefined ? name.toLowerCase() : codeDigest(typed);
  return openCodes(books, actor).revoke(digest, books.clock());
}

type Redemption = {
  readonly id: string;
  readonly amount: Micro;
  /** The account's available balance now. */
  readonly available: Micro;
};

/**
 * Credits the value of a code, once. Throws `invalid_code`, `code_not_found`, `code_used` and
 * others.
 */
export async function redeemCode(
  parts: Pick<OperationDependencies, 'ledger' | 'clock' | 'randomBytes'>,
  { accountId, typed }: { readonly accountId: string; readonly typed: string },
  actor: Actor,
): Promise<Redemption> {
  const code = readRedemptionCode(typed);
  if (code === undefined) {
    throw new OperationError(
      'invalid_code',
      'This is not a code: at least one character is wrong, missing or too many. Look at it again.',
    );
  }
  const digest = codeDigest(code);
  const by = authorOf(actor, createId('op_', parts.randomBytes));
  const result = await parts.ledger.redeem({ digest, accountId, by, nowMs: parts.clock() });
  if (result.kind === 'refused') throw refusal(result.why);
  return { id: codeId({ digest }), amount: result.amount, available: result.available };
}

function refusal(why: Extract<RedeemResult, { kind: 'refused' }>['why']): OperationError {
  switch (why) {
    case 'unknown':
      return new OperationError(
        'code_not_found',
        'There is no such code, though it is well formed.',
      );
    case 'used':
      return new OperationError('code_used', 'This code was redeemed by another account.');
    case 'expired':
      return new OperationError('code_expired', 'This code has expired; nothing was added.');
    case 'revoked':
      return new OperationError('code_revoked', 'This code was revoked; nothing was added.');
  }
}

function openCodes({ database, clock, randomBytes }: Books, actor: Actor): Codes {
  const operationId = createId('op_', randomBytes);
  return createCodes({
    database,
    onChange: (action, code) =>
      writeAuditEvent(database, {
        operationId,
        at: clock(),
        actor,
        action,
        subject: codeId(code),
        detail: { amount: formatTokens(code.amount), reason: code.reason },
      }),
  });
}

export function codeRecord(code: CodeRow, nowMs: number) {
  const time = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));
  return {
    id: codeId(code),
    object: 'redemption_code',
    masked: code.masked,
    amount: formatTokens(code.amount),
    status: codeStatus(code, nowMs),
    reason: code.reason,
    created_at: isoTime(code.createdAt),
    expires_at: time(code.expiresAt),
    revoked_at: time(code.revokedAt),
    redeemed_at: time(code.redeemedAt),
    redeemed_by: code.redeemedBy,
  } as const;
}
