// API keys: creates, renames, rotates, revokes and reads them. Called by the command line, the
// dashboard and the key list of /v1. Returns the key itself only at its creation; only its digest
// is stored.

import { eq } from 'drizzle-orm';
import { isoTime } from '../core/calendar.ts';
import { createId, createKey, maskKey } from '../core/id.ts';
import type { Plan } from '../core/plan.ts';
import { accounts, apiKeys, type KeyRevocation } from '../store/tables.ts';
import { unknownAccount } from './accounts.ts';
import { type Actor, type Basics, writeAuditEvent } from './audit.ts';
import { IdentityError } from './error.ts';
import { normaliseNetworks } from './key-bounds.ts';
import { checkExpiry, normaliseKeyName, requireGrace } from './key-checks.ts';
import { digestKey } from './key-digest.ts';
import { boundsDetail, changeKey, createKeyEdits, type KeyOperation } from './key-edits.ts';
import { createKeyList } from './key-list.ts';
import { createKeyQueries, KEY_CREATIONS_PER_HOUR } from './key-queries.ts';
import { type ApiKey, isActive } from './key-record.ts';
import { createKeyRevocations } from './key-revocations.ts';

/** A new key, the only time that its text is available. */
type CreatedKey = { readonly row: ApiKey; readonly key: string };

/** What a replacement takes over from its key. */
type Kept = Pick<
  ApiKey,
  | ('accountId' | 'name' | 'expiresAt' | 'models' | 'networks')
  | ('pausedAt' | 'pausedReason' | 'isGuarded')
>;

type NewKey = {
  readonly accountId: string;
  readonly name?: string | null | undefined;
  /** Unix milliseconds, in the future; absent: never. */
  readonly expiresAt?: number | undefined;
  /** A stored list of slugs (`key-bounds.ts`); absent: any. */
  readonly models?: string | null | undefined;
  /** Absent: any. */
  readonly networks?: readonly string[] | null | undefined;
  /** Whether the runaway guard may pause it; absent: yes. */
  readonly isGuarded?: boolean | undefined;
  /** A well-formed key that no account has, such as one from another gateway; absent: random. */
  readonly text?: string | undefined;
};

const NOT_PAUSED = { pausedAt: null, pausedReason: null };

export type Keys = ReturnType<typeof createKeys>;

export function createKeys(
  dependencies: Basics & {
    /** The current plans of the catalog. */
    readonly plans: () => ReadonlyMap<string, Plan>;
  },
) {
  const { database, clock, randomBytes, plans } = dependencies;
  const { db } = database;
  const queries = { ...createKeyQueries(dependencies), ...createKeyList(dependencies) };

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

  function operationBy(actor: Actor, at: number): KeyOperation {
    return { operationId: createId('op_', randomBytes), at, actor };
  }

  /** Inserts a new key and its audit event. Call inside a transaction. */
  async function insert(
    facts: Kept & Pick<ApiKey, 'rotatedFrom' | 'family'>,
    by: KeyOperation,
    key = createKey(randomBytes),
  ): Promise<CreatedKey> {
    const row: ApiKey = {
      ...facts,
      id: createId('key_', randomBytes),
      digest: digestKey(key),
      masked: maskKey(key),
      createdAt: by.at,
      revokedAt: null,
      revokedReason: null,
      replacedBy: null,
      lastUsedAt: null,
      lastUsedAddress: null,
    };
    await db.insert(apiKeys).values(row).run();
    await writeAuditEvent(database, {
      ...by,
      action: 'api_key.created',
      accountId: row.accountId,
      subject: row.id,
      detail: { masked: row.masked, rotated_from: row.rotatedFrom, ...boundsDetail(row) },
    });
    return { row, key };
  }

  /** Revokes an active or expired key, with its audit event. Call inside a transaction. */
  function markRevoked(
    row: ApiKey,
    reason: KeyRevocation,
    replacedBy: string | null,
    by: KeyOperation,
  ): Promise<ApiKey> {
    // A key that is revoked during its grace period keeps its successor.
    const successor = replacedBy ?? row.replacedBy;
    const changes = { revokedAt: by.at, revokedReason: reason, replacedBy: successor };
    const detail = { reason, replaced_by: replacedBy };
    return changeKey(database, row, changes, { ...by, action: 'api_key.revoked', detail });
  }

  /** Call inside a transaction. */
  async function revoke(id: string, reason: KeyRevocation, actor: Actor): Promise<ApiKey> {
    const row = await queries.find(id);
    if (row.revokedAt !== null) return row;
    return markRevoked(row, reason, null, operationBy(actor, clock()));
  }

  /** Lets a replaced key expire, with its audit event. Call inside a transaction. */
  function markReplaced(
    row: ApiKey,
    changes: { readonly replacedBy: string; readonly expiresAt: number },
    by: KeyOperation,
  ): Promise<ApiKey> {
    const { replacedBy, expiresAt } = changes;
    const detail = { replaced_by: replacedBy, works_until: isoTime(expiresAt) };
    return changeKey(database, row, changes, { ...by, action: 'api_key.replaced', detail });
  }

  /** Throws `key_limit_reached` if the account has as many active keys as its plan allows. */
  async function requireRoom(accountId: string, advice: string): Promise<void> {
    const limit = await activeLimit(accountId);
    if ((await queries.countActive(accountId)) < limit) return;
    throw new IdentityError(
      'key_limit_reached',
      `The account has ${limit} active keys, which is the most that its plan allows. ${advice}`,
    );
  }

  return {
    ...queries,
    ...createKeyEdits({ database, clock, randomBytes, find: queries.find }),
    ...createKeyRevocations({ database, clock, randomBytes, several: queries.several }),

    /** Creates a key within the plan's cap and the hourly limit. Throws `IdentityError`. */
    async create(facts: NewKey, actor: Actor): Promise<CreatedKey> {
      const now = clock();
      const name = normaliseKeyName(facts.name);
      const expiresAt = checkExpiry(facts.expiresAt, now);
      const networks = normaliseNetworks(facts.networks ?? null);
      return database.transaction(async () => {
        await requireRoom(facts.accountId, 'Revoke one, or change the plan.');
        await requireCreations(facts.accountId);
        const { accountId } = facts;
        const isGuarded = facts.isGuarded ?? true;
        const bounds = { models: facts.models ?? null, networks, isGuarded, ...NOT_PAUSED };
        const row = { accountId, name, expiresAt, ...bounds, rotatedFrom: null, family: null };
        return insert(row, operationBy(actor, now), facts.text);
      });
    },

    /**
     * Creates the replacement and revokes the old key in one transaction, so that exactly one is
     * always active. With a grace period, the old key expires after it instead, and both count
     * toward the plan's cap. Keeps name and expiry. Only an active key can be rotated, and only
     * once.
     */
    async rotate(
      id: string,
      actor: Actor,
      graceMs = 0,
    ): Promise<{ replaced: ApiKey; created: CreatedKey }> {
      requireGrace(graceMs);
      return database.transaction(async () => {
        const now = clock();
        const old = await queries.find(id);
        if (!isActive(old, now) || old.replacedBy !== null) {
          throw new IdentityError(
            'key_not_active',
            'Only an active key can be rotated, and only once. This one is revoked, expired or already replaced. Create a new key.',
          );
        }
        if (graceMs > 0) {
          await requireRoom(
            old.accountId,
            'During a grace period, both keys count. Rotate without one, or revoke another key first.',
          );
        }
        await requireCreations(old.accountId);
        const by = operationBy(actor, now);
        const { accountId, name, expiresAt, models, networks, isGuarded } = old;
        const { pausedAt, pausedReason } = old;
        const bounds = { models, networks, isGuarded, pausedAt, pausedReason };
        const family = old.family ?? old.id;
        const facts = { accountId, name, expiresAt, ...bounds, rotatedFrom: old.id, family };
        const created = await insert(facts, by);
        const replacedBy = created.row.id;
        const endsAt = Math.min(now + graceMs, expiresAt ?? Infinity);
        const replaced = await (graceMs === 0
          ? markRevoked(old, 'rotated', replacedBy, by)
          : markReplaced(old, { replacedBy, expiresAt: endsAt }, by));
        return { replaced, created };
      });
    },

    /** Revokes at once. A revoked key stays as it is. */
    revoke: (id: string, reason: KeyRevocation, actor: Actor): Promise<ApiKey> =>
      database.transaction(() => revoke(id, reason, actor)),
  };
}
