// Revokes many keys of an account in a few statements, because other writers wait for the
// transaction. Part of `createKeys`.

import { and, eq, inArray, isNull, type SQL } from 'drizzle-orm';
import { createId } from '../core/id.ts';
import { apiKeys, type KeyRevocation } from '../store/tables.ts';
import { type Actor, type Basics, writeAuditEvents } from './audit.ts';
import { notOwn } from './key-queries.ts';
import type { ApiKey } from './key-record.ts';

export function createKeyRevocations(
  dependencies: Basics & {
    readonly several: (accountId: string, ids: readonly string[]) => Promise<ApiKey[]>;
  },
) {
  const { database, clock, randomBytes, several } = dependencies;

  /**
   * Revokes the matching keys of an account that are not revoked yet, as one operation with an audit
   * event each. Call inside a transaction.
   */
  async function revokeWhere(
    isMatch: SQL,
    accountId: string,
    reason: KeyRevocation,
    actor: Actor,
  ): Promise<void> {
    const at = clock();
    const operationId = createId('op_', randomBytes);
    const revoked = await database.db
      .update(apiKeys)
      .set({ revokedAt: at, revokedReason: reason })
      .where(and(isMatch, isNull(apiKeys.revokedAt)))
      .returning({ id: apiKeys.id, masked: apiKeys.masked });
    await writeAuditEvents(
      database,
      revoked.map(({ id, masked }) => ({
        operationId,
        at,
        actor,
        action: 'api_key.revoked',
        accountId,
        subject: id,
        detail: { masked, reason, replaced_by: null },
      })),
    );
  }

  return {
    /** For callers that write more in their own transaction. */
    within: {
      /** Revokes every key of an account. */
      revokeAll: (accountId: string, reason: KeyRevocation, actor: Actor): Promise<void> =>
        revokeWhere(eq(apiKeys.accountId, accountId), accountId, reason, actor),
    },

    /** Revokes several keys of one account as one operation: all of them or none. */
    async revokeOwn(accountId: string, ids: readonly string[], actor: Actor): Promise<ApiKey[]> {
      const before = await several(accountId, ids);
      if (before.length < ids.length) throw notOwn();
      // A repeated call must not make other writers wait.
      if (before.every(({ revokedAt }) => revokedAt !== null)) return before;
      const isChosen = inArray(apiKeys.id, [...ids]);
      await database.transaction(() => revokeWhere(isChosen, accountId, 'user', actor));
      return several(accountId, ids);
    },
  };
}
