// The tokens of the operators' API: creates, lists, revokes and authenticates them. A token is shown
// once; its digest is stored. Tokens cannot create tokens.

import { and, desc, eq, isNull, lt, or, sql } from 'drizzle-orm';
import { createId, createKey, type RandomBytes } from '../core/id.ts';
import { isScope, SCOPES, type Scope } from '../core/operator-scope.ts';
import { operatorTokens } from '../store/console-tables.ts';
import type { Database } from '../store/contract.ts';
import { type Actor, authorOf, writeAuditEvent } from './audit.ts';
import { IdentityError } from './error.ts';
import { digestKey } from './key-digest.ts';

export type OperatorToken = typeof operatorTokens.$inferSelect;

const PREFIX = 'tgo-';
const NAME_LENGTH_MAX = 100;
const LIFETIME_MAX_MS = 366 * 86_400_000;
const LISTED_MAX = 1_000;
/** How exact `lastUsedAt` is: each update is a write. */
const USE_GRAIN_MS = 60_000;

type NewToken = {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Unix milliseconds, within a year. */
  readonly expiresAt: number;
};

export function createOperatorTokens(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
}) {
  const { database, clock, randomBytes } = dependencies;
  const { db } = database;

  async function audit(
    { id, name, scopes }: OperatorToken,
    action: 'operator_token.created' | 'operator_token.revoked',
    actor: Actor,
  ): Promise<void> {
    const operationId = createId('op_', randomBytes);
    const event = { operationId, at: clock(), actor, action, subject: id };
    await writeAuditEvent(database, { ...event, detail: { name, scopes } });
  }

  return {
    /** Throws `invalid_scopes`, `invalid_key_name` and `invalid_expiry`. */
    async create(
      { name, scopes, expiresAt }: NewToken,
      actor: Actor,
    ): Promise<{ readonly row: OperatorToken; readonly token: string }> {
      const token = `${PREFIX}${createKey(randomBytes).slice('sk-'.length)}`;
      const now = clock();
      const row: OperatorToken = {
        id: createId('tok_', randomBytes),
        digest: digestKey(token),
        masked: `${token.slice(0, 8)}…${token.slice(-4)}`,
        name: requireName(name),
        scopes: JSON.stringify(requireScopes(scopes)),
        createdAt: now,
        createdBy: authorOf(actor, '').actor,
        expiresAt: requireExpiry(expiresAt, now),
        revokedAt: null,
        lastUsedAt: null,
      };
      await database.transaction(async (tx) => {
        await tx.insert(operatorTokens).values(row).run();
        await audit(row, 'operator_token.created', actor);
      });
      return { row, token };
    },

    /** Newest first. */
    list: async (): Promise<readonly OperatorToken[]> =>
      db.select().from(operatorTokens).orderBy(desc(operatorTokens.createdAt)).limit(LISTED_MAX),

    /** A revoked token stays as it is. Throws `token_not_found`. */
    revoke: (id: string, actor: Actor): Promise<OperatorToken> =>
      database.transaction(async (tx) => {
        const own = eq(operatorTokens.id, id);
        const row = await tx.select().from(operatorTokens).where(own).get();
        if (row === undefined) {
          throw new IdentityError('token_not_found', 'There is no token with this id.');
        }
        if (row.revokedAt !== null) return row;
        const changes = { revokedAt: clock() };
        await tx.update(operatorTokens).set(changes).where(own).run();
        const revoked = { ...row, ...changes };
        await audit(revoked, 'operator_token.revoked', actor);
        return revoked;
      }),

    /** The token of a request; undefined if it is unknown, revoked or expired. */
    async authenticate(authorization: string | null): Promise<OperatorToken | undefined> {
      const [, token] = /^bearer +(tgo-[A-Za-z0-9]{48})$/i.exec(authorization?.trim() ?? '') ?? [];
      if (token === undefined) return undefined;
      const digest = digestKey(token);
      const row = await db
        .select()
        .from(operatorTokens)
        .where(eq(operatorTokens.digest, digest))
        .get();
      const now = clock();
      if (row === undefined || row.revokedAt !== null || row.expiresAt <= now) return undefined;
      const before = now - USE_GRAIN_MS;
      const isDue = or(isNull(operatorTokens.lastUsedAt), lt(operatorTokens.lastUsedAt, before));
      if (row.lastUsedAt === null || row.lastUsedAt < before) {
        const set = { lastUsedAt: sql`${now}` };
        await db
          .update(operatorTokens)
          .set(set)
          .where(and(eq(operatorTokens.id, row.id), isDue));
      }
      return row;
    },
  };
}

export function scopesOf({ scopes }: Pick<OperatorToken, 'scopes'>): readonly Scope[] {
  return JSON.parse(scopes);
}

function requireScopes(scopes: readonly string[]): readonly Scope[] {
  const known = SCOPES.filter((scope) => scopes.includes(scope));
  if (known.length > 0 && scopes.every(isScope)) return known;
  throw new IdentityError(
    'invalid_scopes',
    `A token needs one or more of these scopes: ${SCOPES.join(', ')}.`,
  );
}

function requireName(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= NAME_LENGTH_MAX && !/\p{Cc}/u.test(name)) return name;
  throw new IdentityError(
    'invalid_key_name',
    `A token needs a name of at most ${NAME_LENGTH_MAX} characters.`,
  );
}

function requireExpiry(expiresAt: number, now: number): number {
  const isWithin = expiresAt > now && expiresAt <= now + LIFETIME_MAX_MS;
  if (Number.isSafeInteger(expiresAt) && isWithin) return expiresAt;
  throw new IdentityError('invalid_expiry', 'A token expires in the future, within a year.');
}

/** The record of a token; it never contains the token or its digest. */
export function operatorTokenRecord(row: OperatorToken, nowMs: number) {
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const { id, name, masked, createdBy } = row;
  return {
    ...{ id, object: 'operator_token', name, masked, scopes: scopesOf(row) },
    status: row.revokedAt !== null ? 'revoked' : row.expiresAt <= nowMs ? 'expired' : 'active',
    created_at: iso(row.createdAt),
    created_by: createdBy,
    expires_at: iso(row.expiresAt),
    revoked_at: iso(row.revokedAt),
    last_used_at: iso(row.lastUsedAt),
  } as const;
}
