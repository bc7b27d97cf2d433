// Resolves the headers of a request to the facts about its key and account. The hot path of every
// request: one hash and one map lookup. Never compares keys themselves, and reads each key, known
// or not, from the database at most once within the cache time.

import { eq, sql } from 'drizzle-orm';
import type { Awaitable } from '../async/awaitable.ts';
import type { Standing } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import { readPresentedKey } from '../core/key.ts';
import { putLast } from '../core/recent.ts';
import { accounts, apiKeys } from '../store/tables.ts';
import type { Basics } from './audit.ts';
import { type KeyBounds, keyBounds } from './key-bounds.ts';
import { digestKey } from './key-digest.ts';
import type { ApiKey } from './key-record.ts';

/** The maximum age of cached facts, even when no invalidation arrived. */
export const CACHE_TIME_MS = 5_000;
const CACHE_ENTRIES_MAX = 10_000;

export type KeyFacts = {
  readonly keyId: string;
  readonly accountId: string;
  /** The first key of its rotation, whose budget it shares; absent for that key. */
  readonly family?: string;
  readonly plan: string;
  /** Unix milliseconds. */
  readonly planSince: number;
  readonly standing: Standing;
  readonly emailVerified: boolean;
  /** Absent for a key without bounds. */
  readonly bounds?: KeyBounds;
};

type Entry = {
  readonly loadedAt: number;
  /** `undefined`: unknown or revoked. */
  readonly facts: KeyFacts | undefined;
  /** Whose key it is, or was; absent if it is unknown. */
  readonly caller?: { readonly accountId: string; readonly keyId: string };
  readonly expiresAt: number;
};

/** The accounts to which a change is confined. */
export type ChangedAccounts = {
  readonly ids: ReadonlySet<string>;
  /** Whether a key was created, which may be cached as unknown. */
  readonly hasNewKeys: boolean;
};

export type Authenticator = ReturnType<typeof createAuthenticator>;

export function createAuthenticator({ database, clock }: Pick<Basics, 'database' | 'clock'>) {
  // Unknown keys have a separate map: a flood of guesses must not evict real keys.
  const known = new Map<string, Entry>();
  const unknown = new Map<string, Entry>();
  /** Reads in progress: requests with the same key share one. */
  const loading = new Map<string, Promise<Entry>>();
  /** Incremented by each invalidation. */
  let epoch = 0;

  const query = database.db
    .select({
      keyId: apiKeys.id,
      accountId: apiKeys.accountId,
      family: apiKeys.family,
      plan: accounts.plan,
      planSince: accounts.planSince,
      standing: accounts.standing,
      emailVerified: accounts.emailVerified,
      expiresAt: apiKeys.expiresAt,
      revokedAt: apiKeys.revokedAt,
      models: apiKeys.models,
      networks: apiKeys.networks,
      pausedAt: apiKeys.pausedAt,
      pausedReason: apiKeys.pausedReason,
    })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .where(eq(apiKeys.digest, sql.placeholder('digest')))
    .prepare();

  function load(digest: string, now: number): Promise<Entry> {
    const begun = loading.get(digest);
    if (begun !== undefined) return begun;
    const entry = read(digest, now).finally(() => {
      if (loading.get(digest) === entry) loading.delete(digest);
    });
    loading.set(digest, entry);
    return entry;
  }

  async function read(digest: string, now: number): Promise<Entry> {
    known.delete(digest);
    unknown.delete(digest);
    const begunIn = epoch;
    const row = await query.get({ digest });
    // A read that began before an invalidation may be outdated.
    const isKept = epoch === begunIn;
    if (row === undefined || row.revokedAt !== null) {
      const caller = row && { accountId: row.accountId, keyId: row.keyId };
      const entry = {
        loadedAt: now,
        facts: undefined,
        expiresAt: Infinity,
        ...(caller && { caller }),
      };
      if (isKept) putLast(unknown, digest, entry, CACHE_ENTRIES_MAX);
      return entry;
    }
    const { expiresAt } = row;
    const facts = factsOf(row);
    const entry = { loadedAt: now, facts, caller: facts, expiresAt: expiresAt ?? Infinity };
    if (isKept) putLast(known, digest, entry, CACHE_ENTRIES_MAX);
    return entry;
  }

  return {
    /**
     * Authenticates a request. Throws `GatewayError`: `missing_api_key`, or `invalid_api_key` for a
     * malformed, unknown, revoked or expired key. Does not check the account's standing.
     * Synchronous for a cached key.
     */
    authenticate(authorization: string | null, xApiKey: string | null): Awaitable<KeyFacts> {
      const presented = readPresentedKey(authorization, xApiKey);
      if (presented.kind === 'missing') throw new GatewayError('missing_api_key');
      if (presented.kind === 'malformed') throw new GatewayError('invalid_api_key');
      const now = clock();
      const digest = digestKey(presented.key);
      const entry = known.get(digest) ?? unknown.get(digest);
      if (entry !== undefined && isFresh(entry, now)) return requireValid(entry, now);
      return load(digest, now).then((loaded) => requireValid(loaded, now));
    },
    /** Drops what is cached of these accounts, or everything, after a change to keys or accounts. */
    invalidate(changed?: ChangedAccounts): void {
      epoch += 1;
      // Whose keys are being read is not known yet.
      loading.clear();
      if (changed === undefined || changed.hasNewKeys) unknown.clear();
      if (changed === undefined) known.clear();
      else for (const cache of [known, unknown]) dropAccounts(cache, changed.ids);
    },
    /** The number of cached keys, known and unknown: at most 20,000. */
    cachedKeys: (): number => known.size + unknown.size,
  };
}

/** Customers may cause this 60 times a minute, so other accounts keep their entries. */
function dropAccounts(cache: Map<string, Entry>, accountIds: ReadonlySet<string>): void {
  for (const [digest, { caller }] of cache) {
    if (caller !== undefined && accountIds.has(caller.accountId)) cache.delete(digest);
  }
}

type KeyRow = Omit<KeyFacts, 'family' | 'bounds'> &
  Pick<ApiKey, 'family' | 'models' | 'networks' | 'pausedAt' | 'pausedReason'>;

function factsOf(row: KeyRow): KeyFacts {
  const { keyId, accountId, plan, planSince, standing, emailVerified, family } = row;
  const bounds = keyBounds(row);
  return Object.freeze({
    keyId,
    accountId,
    plan,
    planSince,
    standing,
    emailVerified,
    ...(family !== null && { family }),
    ...(bounds !== undefined && { bounds }),
  });
}

function requireValid({ facts, caller, expiresAt }: Entry, now: number): KeyFacts {
  if (facts === undefined || expiresAt <= now) {
    throw new GatewayError('invalid_api_key', caller && { caller });
  }
  return facts;
}

/** An entry is stale, too, where the clock was set back. */
function isFresh(entry: Entry, now: number): boolean {
  const age = now - entry.loadedAt;
  return age >= 0 && age < CACHE_TIME_MS;
}
