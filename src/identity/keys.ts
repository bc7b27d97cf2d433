// API keys: creates, renames, rotates, revokes and reads them. Called by the command line, the
// dashboard and the key list of /v1. Returns the key itself only at its creation; only its digest
// is stored.

import { eq } from 'drizzle-orm';
import { createId, createKey, maskKey, type RandomBytes } from '../core/id.ts';
import type { Plan } from '../core/plan.ts';
import type { Database } from '../store/contract.ts';
import { accounts, apiKeys, type KeyRevocation } from '../store/tables.ts';
import { unknownAccount } from './accounts.ts';
import { type Actor, writeAuditEvent } from './audit.ts';
import { IdentityError } from './error.ts';
import { digestKey } from './key-digest.ts';
import { createKeyQueries, KEY_CREATIONS_PER_HOUR } from './key-queries.ts';
import { type ApiKey, isActive } from './key-record.ts';

/** A new key, the only time that its text is available. */
type CreatedKey = { readonly row: ApiKey; readonly key: string };

type NewKey = {
  readonly accountId: string;
  readonly name?: string | null | undefined;
  /** Unix milliseconds, in the future; absent: never. */
  readonly expiresAt?: number | undefined;
};

export type Keys = ReturnType<typeof createKeys>;

/** Control characters, and those that change the direction of surrounding text. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const NAME_LENGTH_MAX = 100;

/** A key without expiry has no date; a later date than this is a mistake. */
const EXPIRY_MAX_MS = 100 * 366 * 86_400_000;

export function createKeys(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  /** The current plans of the catalog. */
  readonly plans: () => ReadonlyMap<string, Plan>;
}) {
  const { database, clock, randomBytes, plans } = dependencies;
  const { db } = database;
  const queries = createKeyQueries({ database, clock });

  /**
   * The most active keys that the account's plan allows. Throws `account_not_found`,
   * `unknown_plan`.
   */
  async function activeLimit(accountId: string): Promise<number> {
    const account = await db.select().from(accounts).where(eq(accounts.id, accountId)).get();
    if (account === undefined) {
      throw unknownAccount();
    }
    const plan = plans().get(account.plan);
    if (plan !== undefined) return plan.maxApiKeys;
    throw new IdentityError(
      'unknown_plan',
      'The catalog no longer has the plan of this account. Change its plan first.',
    );
  }

  async function requireCreations(accountId: string): Promise<void> {
    const { nextAt } = await queries.creations(accountId);
    if (nextAt === undefined) return;
    throw new IdentityError(
      'key_creation_limit_reached',
      `The account has created ${KEY_CREATIONS_PER_HOUR} keys within the last hour, rotations included. Try again later.`,
      Math.max(1, Math.ceil((nextAt - clock()) / 1_000)),
    );
  }

  /** Inserts a new key and its audit event. Call inside a transaction. */
  async function insert(
    facts: Pick<ApiKey, 'accountId' | 'name' | 'expiresAt' | 'rotatedFrom'>,
    at: number,
    actor: Actor,
    operationId: string,
  ): Promise<CreatedKey> {
    const key = createKey(randomBytes);
    const row: ApiKey = {
      ...facts,
      id: createId('key_', randomBytes),
      digest: digestKey(key),
      masked: maskKey(key),
      createdAt: at,
      revokedAt: null,
      revokedReason: null,
      replacedBy: null,
      lastUsedAt: null,
    };
    await db.insert(apiKeys).values(row).run();
    await writeAuditEvent(database, {
      operationId,
      at,
      actor,
      action: 'api_key.created',
      accountId: row.accountId,
      subject: row.id,
      detail: { masked: row.masked, rotated_from: row.rotatedFrom },
    });
    return { row, key };
  }

  /** Revokes an active or expired key, with its audit event. Call inside a transaction. */
  async function markRevoked(
    row: ApiKey,
    reason: KeyRevocation,
    replacedBy: string | null,
    at: number,
    actor: Actor,
    operationId: string,
  ): Promise<ApiKey> {
    const changes = { revokedAt: at, revokedReason: reason, replacedBy };
    await db.update(apiKeys).set(changes).where(eq(apiKeys.id, row.id)).run();
    await writeAuditEvent(database, {
      operationId,
      at,
      actor,
      action: 'api_key.revoked',
      accountId: row.accountId,
      subject: row.id,
      detail: { masked: row.masked, reason, replaced_by: replacedBy },
    });
    return { ...row, ...changes };
  }

  /** Call inside a transaction. */
  async function revoke(id: string, reason: KeyRevocation, actor: Actor): Promise<ApiKey> {
    const row = await queries.find(id);
    if (row.revokedAt !== null) return row;
    return markRevoked(row, reason, null, clock(), actor, createId('op_', randomBytes));
  }

  return {
    ...queries,

    /** The same inside the caller's transaction, for callers that write more. */
    within: { revoke },

    /** Creates a key within the plan's cap and the hourly limit. Throws `IdentityError`. */
    async create(facts: NewKey, actor: Actor): Promise<CreatedKey> {
      const now = clock();
      const name = normaliseKeyName(facts.name);
      const expiresAt = checkExpiry(facts.expiresAt, now);
      return database.transaction(async () => {
        const limit = await activeLimit(facts.accountId);
        if ((await queries.countActive(facts.accountId)) >= limit) {
          throw new IdentityError(
            'key_limit_reached',
            `The account has ${limit} active keys, which is the most that its plan allows. Revoke one, or change the plan.`,
          );
        }
        await requireCreations(facts.accountId);
        const row = { accountId: facts.accountId, name, expiresAt, rotatedFrom: null };
        return insert(row, now, actor, createId('op_', randomBytes));
      });
    },

    /**
     * Creates the replacement and revokes the old key in one transaction, so that exactly one is
     * always active. Keeps name and expiry. Only an active key can be rotated, and only once.
     */
    async rotate(id: string, actor: Actor): Promise<{ revoked: ApiKey; created: CreatedKey }> {
      return database.transaction(async () => {
        const now = clock();
        const old = await queries.find(id);
        if (!isActive(old, now)) {
          throw new IdentityError(
            'key_not_active',
            'Only an active key can be rotated; this one is revoked or expired. Create a new key.',
          );
        }
        await requireCreations(old.accountId);
        const operationId = createId('op_', randomBytes);
        const { accountId, name, expiresAt } = old;
        const facts = { accountId, name, expiresAt, rotatedFrom: old.id };
        const created = await insert(facts, now, actor, operationId);
        const revoked = await markRevoked(old, 'rotated', created.row.id, now, actor, operationId);
        return { revoked, created };
      });
    },

    /** Revokes at once. A revoked key stays as it is. */
    revoke: (...facts: Parameters<typeof revoke>): Promise<ApiKey> =>
      database.transaction(() => revoke(...facts)),

    /** An unchanged name writes nothing. Throws `invalid_key_name`. */
    async rename(id: string, newName: string | null, actor: Actor): Promise<ApiKey> {
      const name = normaliseKeyName(newName);
      return database.transaction(async () => {
        const row = await queries.find(id);
        if (row.name === name) return row;
        await db.update(apiKeys).set({ name }).where(eq(apiKeys.id, row.id)).run();
        await writeAuditEvent(database, {
          operationId: createId('op_', randomBytes),
          at: clock(),
          actor,
          action: 'api_key.renamed',
          accountId: row.accountId,
          subject: row.id,
          detail: { masked: row.masked, from: row.name, to: name },
        });
        return { ...row, name };
      });
    },
  };
}

/** Trims a key's name; `null` where it is empty. Throws `invalid_key_name`. */
export function normaliseKeyName(name: string | null | undefined): string | null {
  const trimmed = name?.trim() ?? '';
  if (trimmed === '') return null;
  const isShown = !UNSEEN.test(trimmed) && trimmed.isWellFormed();
  if (trimmed.length <= NAME_LENGTH_MAX && isShown) return trimmed;
  throw new IdentityError(
    'invalid_key_name',
    `A key's name has at most ${NAME_LENGTH_MAX} characters and no control characters.`,
  );
}

function checkExpiry(expiresAt: number | undefined, now: number): number | null {
  if (expiresAt === undefined) return null;
  const isWithin = expiresAt > now && expiresAt < now + EXPIRY_MAX_MS;
  if (Number.isSafeInteger(expiresAt) && isWithin) return expiresAt;
  throw new IdentityError(
    'invalid_expiry',
    "A key's expiry date has to be in the future, within 100 years. A key without one never ends.",
  );
}
