// Creates, lists and revokes redemption codes. Redeeming moves money, so the ledger does it
// (`credits.ts`). The text of a code is never stored and cannot be shown again.

import { hash } from 'node:crypto';
import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import type { Micro } from '../core/money.ts';
import { maskRedemptionCode } from '../core/redemption-code.ts';
import type { Database } from '../store/contract.ts';
import { pageBy, type SortedPage, type SortPlace } from '../store/keyset.ts';
import { redemptionCodes } from '../store/money-tables.ts';
import { LedgerRefusal } from './error.ts';

export type CodeRow = typeof redemptionCodes.$inferSelect;

type CodeStatus = 'open' | 'redeemed' | 'revoked' | 'expired';

export type Codes = ReturnType<typeof createCodes>;

/** The first characters of the digest, which identify a code in lists. */
const ID_LENGTH = 12;

/** `code` is normalized (`core/redemption-code.ts`). */
export function codeDigest(code: string): string {
  return hash('sha256', code, 'hex');
}

export function codeId({ digest }: Pick<CodeRow, 'digest'>): string {
  return digest.slice(0, ID_LENGTH);
}

export function codeStatus(code: CodeRow, nowMs: number): CodeStatus {
  if (code.redeemedAt !== null) return 'redeemed';
  if (code.revokedAt !== null) return 'revoked';
  return code.expiresAt !== null && code.expiresAt <= nowMs ? 'expired' : 'open';
}

/** All codes, oldest first. */
export async function listCodes({ db }: Database): Promise<readonly CodeRow[]> {
  return db
    .select()
    .from(redemptionCodes)
    .orderBy(asc(redemptionCodes.createdAt), asc(redemptionCodes.digest))
    .all();
}

/** A code with its number, which rises with every code that is created. */
type NumberedCode = { readonly code: CodeRow; readonly number: number };

export type CodeField = 'created' | 'amount' | 'expires';

const NUMBER = sql<number>`${redemptionCodes}.rowid`.mapWith(Number);

const NEVER = sql.raw(String(Number.MAX_SAFE_INTEGER));

const ORDERS = {
  created: NUMBER,
  amount: redemptionCodes.amount,
  expires: sql`coalesce(${redemptionCodes.expiresAt}, ${NEVER})`,
};

/** One page of the codes in any order. */
export async function pageCodes(
  { db }: Database,
  page: SortedPage<CodeField>,
): Promise<readonly NumberedCode[]> {
  const { where, orderBy } = pageBy(ORDERS, NUMBER, page);
  return db
    .select({ code: redemptionCodes, number: NUMBER })
    .from(redemptionCodes)
    .where(where)
    .orderBy(...orderBy)
    .limit(page.limit)
    .all();
}

export function placeOfCode({ code, number }: NumberedCode, field: CodeField): SortPlace {
  const values: Record<CodeField, number | bigint> = {
    created: number,
    amount: code.amount,
    expires: code.expiresAt ?? Number.MAX_SAFE_INTEGER,
  };
  return { value: values[field], tie: number };
}

export function createCodes({
  database,
  onChange,
}: {
  readonly database: Database;
  /** Called inside the transaction of the change, for the audit trail. */
  readonly onChange: (action: 'code.created' | 'code.revoked', code: CodeRow) => Promise<void>;
}) {
  return {
    /** Adds all of these normalized codes, or none. */
    async add(
      codes: readonly string[],
      terms: {
        readonly amount: Micro;
        readonly reason: string;
        readonly expiresAt: number | undefined;
        readonly nowMs: number;
      },
    ): Promise<readonly CodeRow[]> {
      const { amount, reason, expiresAt = null, nowMs } = terms;
      const rows = codes.map((code) => ({
        digest: codeDigest(code),
        masked: maskRedemptionCode(code),
        amount,
        reason,
        createdAt: nowMs,
        expiresAt,
        revokedAt: null,
        redeemedAt: null,
        redeemedBy: null,
      }));
      await database.transaction(async (tx) => {
        for (const row of rows) {
          await tx.insert(redemptionCodes).values(row).run();
          await onChange('code.created', row);
        }
      });
      return rows;
    },

    /**
     * Revokes a code, by its id or its digest. A revoked code stays as it is. Throws
     * `LedgerRefusal` where there is none, or where it was already redeemed.
     */
    async revoke(name: string, nowMs: number): Promise<CodeRow> {
      return database.transaction(async (tx) => {
        const found = await tx
          .select()
          .from(redemptionCodes)
          .where(
            name.length === ID_LENGTH
              ? eq(sql`substr(${redemptionCodes.digest}, 1, ${ID_LENGTH})`, name)
              : eq(redemptionCodes.digest, name),
          )
          .all();
        const [code] = found;
        if (code === undefined || found.length > 1) {
          throw new LedgerRefusal('There is no code with this id. List them with code list.');
        }
        if (code.redeemedAt !== null) throw redeemedAlready();
        if (code.revokedAt !== null) return code;
        // The ledger may have redeemed it since it was read.
        const [changed] = await tx
          .update(redemptionCodes)
          .set({ revokedAt: nowMs })
          .where(and(eq(redemptionCodes.digest, code.digest), isNull(redemptionCodes.redeemedAt)))
          .returning({ digest: redemptionCodes.digest });
        if (changed === undefined) throw redeemedAlready();
        const revoked = { ...code, revokedAt: nowMs };
        await onChange('code.revoked', revoked);
        return revoked;
      });
    },
  };
}

function redeemedAlready(): LedgerRefusal {
  return new LedgerRefusal(
    'This code was redeemed already. Take the money back with account adjust.',
  );
}
