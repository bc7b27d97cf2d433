// The mails about keys that the runaway guard has paused. The audit trail is the queue: an owner is
// owed a mail from the event of the pause until the event of its mail. Part of `createKeys`.

import { and, asc, eq, gt, isNull, lte, notExists, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { DAY_MS } from '../core/calendar.ts';
import { unindexed } from '../store/portable.ts';
import { accounts, apiKeys, auditEvents } from '../store/tables.ts';
import { type Basics, writeAuditEvent } from './audit.ts';
import type { ApiKey } from './key-record.ts';

/** Amounts in service tokens, as the event of the pause has them. */
export type RunawaySpend = Readonly<Record<'spent' | 'allowed' | 'busiest_hour', string>>;

/** A pause whose mail is owed. */
export type RunawayPause = {
  readonly row: ApiKey;
  readonly email: string;
  /** Shared by the events of the pause and of its mail. */
  readonly operationId: string;
  readonly detail: RunawaySpend;
};

/** The mail server has the time in between for its retries. */
const OVERDUE_MS = 5 * 60_000;

const GIVEN_UP_MS = DAY_MS;

export function createPauseMails({ database, clock }: Pick<Basics, 'database' | 'clock'>) {
  const { db } = database;
  const mailed = alias(auditEvents, 'mailed');
  // `unindexed`: a key has few events, and the trail of all keys has any number of each action.
  const mails = db
    .select({ id: mailed.id })
    .from(mailed)
    .where(
      and(
        eq(mailed.subject, auditEvents.subject),
        eq(mailed.operationId, auditEvents.operationId),
        eq(unindexed(mailed.action), 'api_key.pause_mailed'),
      ),
    );

  /** The event of the pause, unless its mail was sent. */
  const eventOf = ({ id, pausedAt }: ApiKey) =>
    db
      .select({ operationId: auditEvents.operationId, detail: auditEvents.detail })
      .from(auditEvents)
      .where(
        and(
          eq(auditEvents.subject, id),
          eq(auditEvents.at, pausedAt ?? 0),
          eq(unindexed(auditEvents.action), 'api_key.paused'),
          notExists(mails),
        ),
      )
      .get();

  /** Only of keys that are still paused by it: an owner who has acted since knows of the pause. */
  async function owed(which: SQL | undefined): Promise<RunawayPause[]> {
    const paused = await db
      .select({ row: apiKeys, email: accounts.email })
      .from(apiKeys)
      .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
      .where(and(eq(apiKeys.pausedReason, 'runaway'), isNull(apiKeys.revokedAt), which))
      .orderBy(asc(apiKeys.pausedAt))
      .all();
    const pauses: RunawayPause[] = [];
    for (const key of paused) {
      const event = await eventOf(key.row);
      if (event !== undefined) pauses.push({ ...key, ...event, detail: JSON.parse(event.detail) });
    }
    return pauses;
  }

  return {
    /** The mail that is owed for a key. */
    owedFor: async (id: string): Promise<RunawayPause | undefined> =>
      (await owed(eq(apiKeys.id, id)))[0],

    /** The mails of pauses within the last day that no server has sent in time. */
    overduePauseMails: (): Promise<RunawayPause[]> => {
      const now = clock();
      const { pausedAt } = apiKeys;
      return owed(and(gt(pausedAt, now - GIVEN_UP_MS), lte(pausedAt, now - OVERDUE_MS)));
    },

    /** `outcome`: what became of the mail. It is not owed any more. */
    markPauseMailed: ({ row, operationId }: RunawayPause, outcome: string): Promise<void> =>
      database.transaction(() =>
        writeAuditEvent(database, {
          operationId,
          at: clock(),
          actor: 'system',
          action: 'api_key.pause_mailed',
          accountId: row.accountId,
          subject: row.id,
          detail: { masked: row.masked, mail: outcome },
        }),
      ),
  };
}
