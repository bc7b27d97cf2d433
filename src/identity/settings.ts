// Switches that an operator sets while the server runs. Each change is one transaction with its
// audit event; a server reads those that requests need into its snapshot.

import { eq } from 'drizzle-orm';
import { createId } from '../core/id.ts';
import type { Maintenance } from '../core/service-state.ts';
import type { Database } from '../store/contract.ts';
import { settings } from '../store/tables.ts';
import { type Actor, type Basics, writeAuditEvent } from './audit.ts';
import { IdentityError } from './error.ts';

type SettingName = 'maintenance' | 'maintenance_message' | 'demo_account';

export type Settings = ReturnType<typeof createSettings>;

const MESSAGE_LENGTH_MAX = 200;

/** Whether requests are rejected, and with which message, from the database. */
export async function readMaintenance(database: Database): Promise<Maintenance> {
  if ((await readSetting(database, 'maintenance')) !== 'on') return { on: false };
  const message = await readSetting(database, 'maintenance_message');
  return Object.freeze(message === undefined ? { on: true } : { on: true, message });
}

async function readSetting({ db }: Database, name: SettingName): Promise<string | undefined> {
  return (await db.select().from(settings).where(eq(settings.name, name)).get())?.value;
}

export function createSettings({ database, clock, randomBytes }: Basics) {
  const { db } = database;

  /** Writes or removes settings at once; unchanged ones are not written. */
  async function change(
    changes: readonly (readonly [SettingName, string | undefined])[],
    actor: Actor,
  ): Promise<void> {
    const operationId = createId('op_', randomBytes);
    await database.transaction(async () => {
      const updatedAt = clock();
      for (const [name, value] of changes) {
        const before = await readSetting(database, name);
        if (before === value) continue;
        await db.delete(settings).where(eq(settings.name, name)).run();
        if (value !== undefined) await db.insert(settings).values({ name, value, updatedAt }).run();
        await writeAuditEvent(database, {
          operationId,
          at: updatedAt,
          actor,
          action: 'setting.changed',
          subject: name,
          detail: { from: before ?? null, to: value ?? null },
        });
      }
    });
  }

  return {
    get: async (name: SettingName): Promise<string | undefined> => readSetting(database, name),
    set: async (name: SettingName, value: string, actor: Actor): Promise<void> =>
      change([[name, value]], actor),
    maintenance: async (): Promise<Maintenance> => readMaintenance(database),
    /** Throws `invalid_message` for a message that does not fit on a line. */
    async setMaintenance({ on, message }: Maintenance, actor: Actor): Promise<void> {
      const words = message === undefined ? undefined : normaliseMessage(message);
      await change(
        [
          ['maintenance', on ? 'on' : 'off'],
          ['maintenance_message', on ? words : undefined],
        ],
        actor,
      );
    },
  };
}

/** The message to callers: trimmed, on one line. */
function normaliseMessage(text: string): string {
  const message = text.trim();
  const fits = message.length > 0 && message.length <= MESSAGE_LENGTH_MAX;
  if (fits && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(message) && message.isWellFormed()) return message;
  throw new IdentityError(
    'invalid_message',
    `The message is not valid. It needs 1 to ${MESSAGE_LENGTH_MAX} characters on one line; callers are shown it.`,
  );
}
