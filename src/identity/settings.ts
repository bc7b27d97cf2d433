// Switches that an operator turns while the server runs. Requests read the snapshot in memory;
// `reload` replaces it. Every change is one transaction with its audit event.

import { eq } from 'drizzle-orm';
import { createId, type RandomBytes } from '../core/id.ts';
import type { Database } from '../store/database.ts';
import { settings } from '../store/tables.ts';
import { type Actor, writeAuditEvent } from './audit.ts';

type SettingName = 'maintenance' | 'demo_account';

export type Settings = ReturnType<typeof createSettings>;

export function createSettings(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
}) {
  const { database, clock, randomBytes } = dependencies;
  const { db } = database;
  let snapshot = takeSnapshot();

  function takeSnapshot(): ReadonlyMap<string, string> {
    return new Map(
      db
        .select()
        .from(settings)
        .all()
        .map((row) => [row.name, row.value]),
    );
  }

  /** Writes a setting; the same value again writes nothing. */
  function set(name: SettingName, value: string, actor: Actor): void {
    database.transaction(() => {
      const before = db.select().from(settings).where(eq(settings.name, name)).get();
      if (before?.value === value) return;
      const updatedAt = clock();
      db.insert(settings)
        .values({ name, value, updatedAt })
        .onConflictDoUpdate({ target: settings.name, set: { value, updatedAt } })
        .run();
      writeAuditEvent(database, {
        operationId: createId('op_', randomBytes),
        at: updatedAt,
        actor,
        action: 'setting.changed',
        subject: name,
        detail: { from: before?.value ?? null, to: value },
      });
    });
    snapshot = takeSnapshot();
  }

  return {
    get: (name: SettingName): string | undefined => snapshot.get(name),
    set,
    maintenance: (): boolean => snapshot.get('maintenance') === 'on',
    setMaintenance: (on: boolean, actor: Actor): void =>
      set('maintenance', on ? 'on' : 'off', actor),
    reload(): void {
      snapshot = takeSnapshot();
    },
  };
}
