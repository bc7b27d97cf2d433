// The record of a key in the key list of /v1, on the dashboard and on the command line. Pure. It
// never contains the key or its digest.

import { isoTime } from '../core/calendar.ts';
import type { apiKeys } from '../store/tables.ts';
import { listOf } from './key-bounds.ts';

export type ApiKey = typeof apiKeys.$inferSelect;

type KeyState = 'active' | 'expired' | 'revoked';

/** A key is expired from the instant of its expiry on. */
function keyState(row: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, nowMs: number): KeyState {
  if (row.revokedAt !== null) return 'revoked';
  return row.expiresAt !== null && row.expiresAt <= nowMs ? 'expired' : 'active';
}

export function isActive(row: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, nowMs: number): boolean {
  return keyState(row, nowMs) === 'active';
}

/** The record of a key; times in ISO 8601, UTC. */
export function keyRecord(row: ApiKey, nowMs: number, currentKeyId?: string) {
  return {
    id: row.id,
    object: 'api_key',
    name: row.name,
    masked: row.masked,
    status: keyState(row, nowMs),
    created_at: isoTime(row.createdAt),
    expires_at: nullableTime(row.expiresAt),
    last_used_at: nullableTime(row.lastUsedAt),
    revoked_at: nullableTime(row.revokedAt),
    revoked_reason: row.revokedReason,
    rotated_from: row.rotatedFrom,
    replaced_by: row.replacedBy,
    /** Slugs; null: every model of the plan. */
    models: listOf(row.models),
    /** In CIDR notation; null: any. */
    networks: listOf(row.networks),
    /** Null while it is not paused. */
    paused_at: nullableTime(row.pausedAt),
    paused_reason: row.pausedReason,
    /** Whether the runaway guard may pause it. */
    runaway_guard: row.isGuarded,
    /** Whether this key made the call. */
    current: row.id === currentKeyId,
  } as const;
}

function nullableTime(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
