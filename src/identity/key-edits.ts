// Changes keys without replacing them: name, expiry, models, networks, pause. Part of `createKeys`.
// Each change is one transaction with its audit event; an unchanged key writes nothing.

import { and, eq, gt, inArray, or } from 'drizzle-orm';
import { isoTime } from '../core/calendar.ts';
import { createId } from '../core/id.ts';
import { GRACE_MS } from '../core/runaway.ts';
import type { Database } from '../store/contract.ts';
import { unindexed } from '../store/portable.ts';
import { apiKeys, auditEvents, type KeyPause } from '../store/tables.ts';
import { type Actor, type AuditAction, type Basics, writeAuditEvent } from './audit.ts';
import { IdentityError } from './error.ts';
import { listOf, normaliseNetworks } from './key-bounds.ts';
import { checkExpiry, normaliseKeyName } from './key-checks.ts';
import { type ApiKey, isActive } from './key-record.ts';
import { createPauseMails, type RunawayPause, type RunawaySpend } from './pause-mails.ts';

/** Absent members stay as they are. */
export type KeyEdit = {
  readonly name?: string | null | undefined;
  /** Unix milliseconds, in the future; null: never. */
  readonly expiresAt?: number | null | undefined;
  /** A stored list of slugs (`key-bounds.ts`). */
  readonly models?: string | null | undefined;
  readonly networks?: readonly string[] | null | undefined;
  /** Whether the runaway guard may pause it. */
  readonly isGuarded?: boolean | undefined;
  /** Whether its budget is set after this: the ledger's, which its replacements share. */
  readonly isBudgeted?: boolean | undefined;
};

type Detail = Readonly<Record<string, string | null>>;

/** What the events of one operation share. */
export type KeyOperation = {
  readonly operationId: string;
  readonly at: number;
  readonly actor: Actor;
};

/** Changes a key, with its audit event. Call inside a transaction. */
export async function changeKey(
  database: Database,
  row: ApiKey,
  changes: Partial<ApiKey>,
  event: KeyOperation & { readonly action: AuditAction; readonly detail: Detail },
): Promise<ApiKey> {
  await database.db.update(apiKeys).set(changes).where(eq(apiKeys.id, row.id)).run();
  await writeAuditEvent(database, {
    ...event,
    accountId: row.accountId,
    subject: row.id,
    detail: { masked: row.masked, ...event.detail },
  });
  return { ...row, ...changes };
}

export function createKeyEdits(
  dependencies: Basics & { readonly find: (idOrKey: string) => Promise<ApiKey> },
) {
  const { database, clock, randomBytes, find } = dependencies;
  const { owedFor, ...mails } = createPauseMails({ database, clock });

  function write(
    row: ApiKey,
    changes: Partial<ApiKey>,
    event: { readonly action: AuditAction; readonly detail: Detail },
    actor: Actor,
    at = clock(),
  ): Promise<ApiKey> {
    const operationId = createId('op_', randomBytes);
    return changeKey(database, row, changes, { ...event, operationId, at, actor });
  }

  const pause = (row: ApiKey, pausedReason: KeyPause, actor: Actor, why?: Detail) => {
    const event = { action: 'api_key.paused', detail: { reason: pausedReason, ...why } } as const;
    // The event of a pause is found by its time.
    const pausedAt = clock();
    return write(row, { pausedAt, pausedReason }, event, actor, pausedAt);
  };

  /**
   * Whether the runaway guard may pause a key: one that is in use and not exempt, and of whose
   * rotation no key was resumed within the grace period after a pause of the guard or an operator.
   */
  async function isPausable(row: ApiKey): Promise<boolean> {
    const now = clock();
    if (!isActive(row, now) || row.pausedAt !== null || !row.isGuarded) return false;
    const first = row.family ?? row.id;
    const family = database.db
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(
        and(
          eq(apiKeys.accountId, row.accountId),
          or(eq(apiKeys.id, first), eq(apiKeys.family, first)),
        ),
      );
    const resumed = await database.db
      .select({ detail: auditEvents.detail })
      .from(auditEvents)
      .where(
        and(
          inArray(auditEvents.subject, family),
          // A key has few events, and the trail of all keys has any number of each action.
          eq(unindexed(auditEvents.action), 'api_key.resumed'),
          // Also from ahead of a clock that was set back.
          gt(auditEvents.at, now - GRACE_MS),
        ),
      );
    return !resumed.some(({ detail }) => JSON.parse(detail).reason !== 'user');
  }

  return {
    /** Throws `invalid_key_name`, `invalid_expiry`, `invalid_networks` and `key_not_active`. */
    async edit(id: string, edit: KeyEdit, actor: Actor): Promise<ApiKey> {
      const wanted = {
        ...(edit.name !== undefined && { name: normaliseKeyName(edit.name) }),
        ...(edit.expiresAt !== undefined && {
          expiresAt: checkExpiry(edit.expiresAt ?? undefined, clock()),
        }),
        ...(edit.models !== undefined && { models: edit.models }),
        ...(edit.networks !== undefined && { networks: normaliseNetworks(edit.networks) }),
        ...(edit.isGuarded !== undefined && { isGuarded: edit.isGuarded }),
      };
      return database.transaction(async () => {
        const row = await find(id);
        if (edit.isBudgeted) requireActive(row, clock());
        const changed = changesOf(row, wanted);
        const { name, ...bounds } = changed;
        let edited = row;
        if (name !== undefined) {
          const detail = { from: row.name, to: name };
          edited = await write(edited, { name }, { action: 'api_key.renamed', detail }, actor);
        }
        if (Object.keys(bounds).length === 0) return edited;
        requireEditable(row);
        if (bounds.expiresAt !== undefined) requireExtendable(row, bounds.expiresAt, clock());
        const detail = boundsDetail(bounds);
        return write(edited, bounds, { action: 'api_key.bounds_changed', detail }, actor);
      });
    },

    /**
     * Requests with a paused key are refused. A key that is paused keeps its first reason, but an
     * operator's pause replaces one that its owner could lift.
     */
    pause: (id: string, pausedReason: 'user' | 'operator', actor: Actor): Promise<ApiKey> =>
      database.transaction(async () => {
        const row = await find(id);
        requireEditable(row);
        const isKept = pausedReason === 'user' || row.pausedReason === 'operator';
        if (row.pausedAt !== null && isKept) return row;
        return pause(row, pausedReason, actor);
      }),

    isPausable,

    /**
     * The pause of the runaway guard, whose mail is owed then. Undefined where it may no longer
     * pause the key, so that of several callers one gets it.
     */
    pauseRunaway: (id: string, why: RunawaySpend): Promise<RunawayPause | undefined> =>
      database.transaction(async () => {
        const row = await find(id);
        if (!(await isPausable(row))) return undefined;
        await pause(row, 'runaway', 'system', why);
        return owedFor(id);
      }),

    ...mails,

    /**
     * `by` an owner, who cannot lift an operator's pause. Throws `key_paused_by_operator` and
     * `key_not_active`.
     */
    resume: (id: string, by: 'owner' | 'operator', actor: Actor): Promise<ApiKey> =>
      database.transaction(async () => {
        const row = await find(id);
        requireEditable(row);
        if (row.pausedAt === null) return row;
        if (by === 'owner' && row.pausedReason === 'operator') {
          throw new IdentityError(
            'key_paused_by_operator',
            'The operator of this service has paused this key. Ask the operator to resume it.',
          );
        }
        const event = { action: 'api_key.resumed', detail: { reason: row.pausedReason } } as const;
        return write(row, { pausedAt: null, pausedReason: null }, event, actor);
      }),
  };
}

/** The members that differ from the row. */
function changesOf(row: ApiKey, wanted: Partial<ApiKey>): Partial<ApiKey> {
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => row[name as keyof ApiKey] !== value),
  );
}

/** Audit events are never removed, and an owner may change these lists at any time. */
const LIST_CHARACTERS_MAX = 300;

/** A list as the trail has it: of a long one, the beginning, the count, and a digest of the whole. */
function shortened(stored: string | null): string | null {
  if (stored === null || stored.length <= LIST_CHARACTERS_MAX) return stored;
  const digest = Bun.CryptoHasher.hash('sha256', stored, 'hex').slice(0, 16);
  return `${stored.slice(0, LIST_CHARACTERS_MAX)}… (${listOf(stored).length}, sha256 ${digest})`;
}

/** For the detail of an event; absent members are left out. */
export function boundsDetail({ expiresAt, models, networks, isGuarded }: Partial<ApiKey>): Detail {
  return {
    ...(expiresAt !== undefined && { expires_at: expiresAt === null ? null : isoTime(expiresAt) }),
    ...(models !== undefined && { models: shortened(models) }),
    ...(networks !== undefined && { networks: shortened(networks) }),
    ...(isGuarded !== undefined && { runaway_guard: isGuarded ? 'on' : 'off' }),
  };
}

/**
 * A key that has expired stays so (spec, States and transitions): more keys than the plan allows
 * would become active again. The grace of a rotated key may end sooner, and not later.
 */
function requireExtendable(row: ApiKey, expiresAt: number | null, nowMs: number): void {
  requireActive(row, nowMs);
  if (row.replacedBy === null || row.expiresAt === null) return;
  if (expiresAt !== null && expiresAt <= row.expiresAt) return;
  throw new IdentityError(
    'invalid_expiry',
    'This key was rotated, and its grace period cannot be extended. Use the key that replaced it.',
  );
}

function requireActive(row: ApiKey, nowMs: number): void {
  requireEditable(row);
  if (isActive(row, nowMs)) return;
  throw new IdentityError('key_not_active', 'This key has expired. Create a new one.');
}

function requireEditable({ revokedAt }: ApiKey): void {
  if (revokedAt === null) return;
  throw new IdentityError('key_not_active', 'This key is revoked. Create a new one.');
}
