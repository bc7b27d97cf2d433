// The tokens of the operators' API: creates, lists, revokes and authenticates them. A token is shown
// once; its digest is stored. Tokens cannot create tokens. A token acts for its owner, an operator,
// and ends when that operator is removed; one from the command line may have no owner. Of several
// with one name, only one is active at a time: the audit trail names tokens.

import { and, desc, eq, gt, isNull, lt, or } from 'drizzle-orm';
import { createId, createKey } from '../core/id.ts';
import { isScope, SCOPES, type Scope } from '../core/operator-scope.ts';
import type { Role } from '../core/role.ts';
import { operatorTokens } from '../store/console-tables.ts';
import { users } from '../store/sign-in-tables.ts';
import { type Actor, auditChange, authorOf, type Basics } from './audit.ts';
import { IdentityError } from './error.ts';
import { digestKey } from './key-digest.ts';

export type OperatorToken = typeof operatorTokens.$inferSelect;

const PREFIX = 'tgo-';
const NAME_LENGTH_MAX = 100;
const LIFETIME_MAX_MS = 366 * 86_400_000;
const LISTED_MAX = 1_000;
/** How exact `lastUsedAt` is: each update is a write. */
const USE_GRAIN_MS = 60_000;
/** Operators as actors of the audit trail. */
const OPERATOR_PREFIX = 'operator:';

/** The operator for whom a token acts. */
export type TokenOwner = { readonly userId: string; readonly role: Role };

export type TokenCaller = {
  readonly realm: 'token';
  readonly token: OperatorToken;
  /** Undefined for a token from the command line that acts for no operator. */
  readonly owner: TokenOwner | undefined;
};

type NewToken = {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Unix milliseconds, within a year. */
  readonly expiresAt: number;
  /** The address of its owner; absent: the operator who creates it, if it is one. */
  readonly owner?: string | undefined;
};

export function createOperatorTokens(dependencies: Basics) {
  const { database, clock, randomBytes } = dependencies;
  const { db } = database;

  async function audit(
    { id, name, scopes }: OperatorToken,
    action: 'operator_token.created' | 'operator_token.revoked',
    actor: Actor,
  ): Promise<void> {
    await auditChange({ ...dependencies, actor }, action, id, { name, scopes });
  }

  async function ownerOf(createdBy: string): Promise<TokenOwner | undefined> {
    const email = createdBy.slice(OPERATOR_PREFIX.length);
    const row = await db
      .select({ userId: users.id, role: users.role })
      .from(users)
      .where(and(eq(users.realm, 'operator'), eq(users.email, email)))
      .get();
    return row === undefined ? undefined : { userId: row.userId, role: row.role ?? 'viewer' };
  }

  /**
   * Call inside the transaction that creates the token: the operator may be removed before it, and
   * the next one with the same address must not get the token.
   */
  async function requireOwner({ createdBy }: OperatorToken): Promise<void> {
    if ((await ownerOf(createdBy)) !== undefined) return;
    throw new IdentityError(
      'operator_not_found',
      'There is no operator with this e-mail address who has set a password.',
    );
  }

  /** Call inside the transaction that creates the token. */
  async function requireFreeName(name: string, now: number): Promise<void> {
    const active = and(isNull(operatorTokens.revokedAt), gt(operatorTokens.expiresAt, now));
    const row = await db
      .select({ id: operatorTokens.id })
      .from(operatorTokens)
      .where(and(eq(operatorTokens.name, name), active))
      .get();
    if (row === undefined) return;
    throw new IdentityError(
      'token_exists',
      'There is an active token with this name, and the audit trail names tokens. Choose another name, or revoke that token first.',
    );
  }

  /** Call inside a transaction. */
  async function revokeRow(row: OperatorToken, actor: Actor): Promise<OperatorToken> {
    const changes = { revokedAt: clock() };
    await db.update(operatorTokens).set(changes).where(eq(operatorTokens.id, row.id)).run();
    const revoked = { ...row, ...changes };
    await audit(revoked, 'operator_token.revoked', actor);
    return revoked;
  }

  return {
    /**
     * Throws `invalid_scopes`, `invalid_key_name`, `invalid_expiry`, `token_exists`, and
     * `operator_not_found` for an owner or creator who does not exist.
     */
    async create(
      { name, scopes, expiresAt, owner }: NewToken,
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
        createdBy:
          owner === undefined
            ? authorOf(actor, '').actor
            : `${OPERATOR_PREFIX}${owner.trim().toLowerCase()}`,
        expiresAt: requireExpiry(expiresAt, now),
        revokedAt: null,
        lastUsedAt: null,
      };
      await database.transaction(async (tx) => {
        await requireFreeName(row.name, now);
        if (hasOwner(row)) await requireOwner(row);
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
        const row = await tx.select().from(operatorTokens).where(eq(operatorTokens.id, id)).get();
        if (row === undefined) {
          throw new IdentityError('token_not_found', 'There is no token with this id.');
        }
        return row.revokedAt === null ? revokeRow(row, actor) : row;
      }),

    /**
     * Revokes all tokens of an operator. Call inside the transaction that removes the operator:
     * another one with the same address must not inherit them.
     */
    async revokeOf(email: string, actor: Actor): Promise<void> {
      const own = eq(operatorTokens.createdBy, `${OPERATOR_PREFIX}${email}`);
      const rows = await db
        .select()
        .from(operatorTokens)
        .where(and(own, isNull(operatorTokens.revokedAt)))
        .all();
      for (const row of rows) await revokeRow(row, actor);
    },

    /**
     * The caller of a request; undefined if its token is unknown, revoked or expired, or if the
     * owner no longer exists. Found by the digest, so no comparison takes time by the token's text.
     */
    async authenticate(authorization: string | null): Promise<TokenCaller | undefined> {
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
      const owner = hasOwner(row) ? await ownerOf(row.createdBy) : undefined;
      if (hasOwner(row) && owner === undefined) return undefined;
      const before = now - USE_GRAIN_MS;
      if (row.lastUsedAt === null || row.lastUsedAt < before) {
        const isDue = or(isNull(operatorTokens.lastUsedAt), lt(operatorTokens.lastUsedAt, before));
        await db
          .update(operatorTokens)
          .set({ lastUsedAt: now })
          .where(and(eq(operatorTokens.id, row.id), isDue));
      }
      return { realm: 'token', token: row, owner };
    },
  };
}

function hasOwner({ createdBy }: OperatorToken): boolean {
  return createdBy.startsWith(OPERATOR_PREFIX);
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
  const owner = hasOwner(row) ? createdBy.slice(OPERATOR_PREFIX.length) : null;
  return {
    id,
    object: 'operator_token',
    name,
    masked,
    scopes: scopesOf(row),
    status: row.revokedAt !== null ? 'revoked' : row.expiresAt <= nowMs ? 'expired' : 'active',
    created_at: iso(row.createdAt),
    /** The address of the operator for whom it acts: its creator, unless the command line named one. */
    owner,
    expires_at: iso(row.expiresAt),
    revoked_at: iso(row.revokedAt),
    last_used_at: iso(row.lastUsedAt),
  } as const;
}
