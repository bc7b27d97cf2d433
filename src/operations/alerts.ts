// Alerts as the console keeps them: one row per kind and subject over all nodes, acknowledged by an
// operator, bounded in number and age.

import { count, desc, eq, getTableColumns, lt, or, sql } from 'drizzle-orm';
import type { AlertGroup } from '../core/activity.ts';
import type { Alert } from '../core/alert.ts';
import { alertSentence } from '../core/alert-sentence.ts';
import { DAY_MS, isoTime } from '../core/calendar.ts';
import { createId, type RandomBytes } from '../core/id.ts';
import { wordsOf } from '../core/sentence.ts';
import { auditChange, type Change } from '../identity/audit.ts';
import { alerts } from '../store/console-tables.ts';
import type { Database } from '../store/contract.ts';
import { larger, smaller } from '../store/portable.ts';
import { inserted } from '../store/statement.ts';
import { sweepTable } from '../store/sweep.ts';
import { OperationError } from './error.ts';

type AlertRow = typeof alerts.$inferSelect;

/** An acknowledged alert that is still raised after this time comes back. */
export const REOPENED_AFTER_MS = 3_600_000;

const KEPT_MS = 30 * DAY_MS;
/** Of a kind, so that one kind cannot push out the others. */
const KEPT_OF_KIND = 100;

/** The newest rows; more than are kept. */
const LISTED = 2_000;

const isOpen = or(
  sql`${alerts.acknowledgedAt} is null`,
  sql`${alerts.lastAt} >= ${alerts.acknowledgedAt} + ${REOPENED_AFTER_MS}`,
);

/** Adds groups to the stored ones. Several nodes may do so at the same time. */
export async function recordAlerts(
  database: Database,
  groups: readonly AlertGroup[],
  randomBytes: RandomBytes,
): Promise<void> {
  const added = inserted(getTableColumns(alerts));
  await database.concurrently(async (tx) => {
    // In one order, so that two nodes cannot wait for each other.
    const ordered = groups.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    for (const { alert, ...group } of ordered) {
      const id = createId('alrt_', randomBytes);
      const fresh = { acknowledgedAt: null, acknowledgedBy: null };
      await tx
        .insert(alerts)
        .values({ ...group, ...fresh, id, kind: alert.kind, alert: JSON.stringify(alert) })
        .onConflictDoUpdate({
          target: [alerts.kind, alerts.subject],
          set: {
            alert: added.alert,
            count: sql`${alerts.count} + ${added.count}`,
            firstAt: smaller(alerts.firstAt, added.firstAt),
            lastAt: larger(alerts.lastAt, added.lastAt),
          },
        })
        .run();
    }
  });
}

function nameOf({ alert, subject }: AlertGroup): string {
  return `${alert.kind} ${subject}`;
}

/** The latest first. */
export async function listAlerts(
  { db }: Pick<Database, 'db'>,
  which: 'open' | 'all' = 'all',
  limit = LISTED,
): Promise<readonly AlertRow[]> {
  return db
    .select()
    .from(alerts)
    .where(which === 'open' ? isOpen : undefined)
    .orderBy(desc(alerts.lastAt), desc(alerts.id))
    .limit(limit)
    .all();
}

export async function countOpenAlerts({ db }: Pick<Database, 'db'>): Promise<number> {
  return (await db.select({ open: count() }).from(alerts).where(isOpen).get())?.open ?? 0;
}

/**
 * `lastAt` is the latest time that the operator has seen: an alert that was raised since then is not
 * acknowledged unseen. Throws `alert_not_found` and `alert_raised_again`.
 */
export async function acknowledgeAlert(
  change: Change,
  id: string,
  lastAt: number,
): Promise<AlertRow> {
  const { database, clock, actor } = change;
  return database.transaction(async (tx) => {
    const row = await tx.select().from(alerts).where(eq(alerts.id, id)).get();
    if (row === undefined) {
      throw new OperationError('alert_not_found', 'This alert is no longer kept.');
    }
    if (!isAlertOpen(row)) return row;
    if (row.lastAt > lastAt) {
      throw new OperationError(
        'alert_raised_again',
        'This alert was raised again in the meantime. Look at it, then acknowledge it.',
      );
    }
    const acknowledged = {
      acknowledgedAt: clock(),
      acknowledgedBy: typeof actor === 'string' ? actor : actor.name,
    };
    await tx.update(alerts).set(acknowledged).where(eq(alerts.id, id)).run();
    await auditChange(change, 'alert.acknowledged', id, {
      kind: row.kind,
      subject: row.subject,
      count: row.count,
    });
    return { ...row, ...acknowledged };
  });
}

/** Removes alerts that were not raised for a month, and the oldest of a kind that has too many. */
export async function sweepAlerts(database: Database, nowMs: number): Promise<void> {
  const tooMany = sql`${alerts.id} in (select id from (
    select id, row_number() over (partition by kind order by last_at desc) as place from ${alerts}
  ) as ranked where place > ${KEPT_OF_KIND})`;
  await sweepTable(database, alerts, or(lt(alerts.lastAt, nowMs - KEPT_MS), tooMany));
}

function isAlertOpen({ acknowledgedAt, lastAt }: AlertRow): boolean {
  return acknowledgedAt === null || lastAt >= acknowledgedAt + REOPENED_AFTER_MS;
}

export function alertRecord(row: AlertRow) {
  const alert = JSON.parse(row.alert) as Alert;
  const sentence = alertSentence(alert);
  return {
    id: row.id,
    object: 'alert',
    kind: row.kind,
    message: wordsOf(sentence),
    sentence,
    request_id: 'requestId' in alert ? alert.requestId : null,
    count: row.count,
    first_at: isoTime(row.firstAt),
    last_at: isoTime(row.lastAt),
    open: isAlertOpen(row),
    acknowledged:
      row.acknowledgedAt === null
        ? null
        : { at: isoTime(row.acknowledgedAt), by: row.acknowledgedBy ?? '' },
  } as const;
}
