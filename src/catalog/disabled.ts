// What the operator has taken out of service while the server runs: an upstream as a whole, or one
// model at it. Requests read a snapshot in memory; routing leaves out what is in it (core/route.ts).
// It stays until it is put back, whatever the catalog says in the meantime.

import { eq, like } from 'drizzle-orm';
import type { OperatorState } from '../core/operator.ts';
import type { Database } from '../store/contract.ts';
import { settings } from '../store/tables.ts';

/** An upstream of the catalog, or one model's place at it. */
export type Place = {
  readonly upstream: string;
  /** The slug of a model; absent: all of them. */
  readonly model?: string | undefined;
};

export type DisabledPlace = Place & {
  readonly reason: string;
  /** Unix milliseconds. */
  readonly since: number;
};

/** Of what requests ask, as the database has it now. */
export async function readDisabled(database: Database): Promise<OperatorState['isDisabled']> {
  const names = new Set((await rows(database)).map(({ name }) => name));
  if (names.size === 0) return () => false;
  return (upstream, model) =>
    names.has(nameOf({ upstream })) || names.has(nameOf({ upstream, model }));
}

/** Everything that is out of service, by upstream and model. */
export async function listDisabled(database: Database): Promise<DisabledPlace[]> {
  return (await rows(database))
    .map(({ name, value, updatedAt }) => ({
      ...placeOf(name),
      reason: value,
      since: updatedAt,
    }))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** The caller checks that the catalog has the place, and writes the audit event beside it. */
export async function disable(
  { db }: Database,
  place: Place,
  reason: string,
  nowMs: number,
): Promise<void> {
  const row = { name: nameOf(place), value: reason, updatedAt: nowMs };
  await db
    .insert(settings)
    .values(row)
    .onConflictDoUpdate({ target: settings.name, set: row })
    .run();
}

/** `false` where it was in service. */
export async function enable({ db }: Database, place: Place): Promise<boolean> {
  const removed = await db
    .delete(settings)
    .where(eq(settings.name, nameOf(place)))
    .returning({ name: settings.name })
    .all();
  return removed.length > 0;
}

const PREFIX = 'disabled:';

function rows({ db }: Database) {
  return db
    .select()
    .from(settings)
    .where(like(settings.name, `${PREFIX}%`))
    .all();
}

/** Ids and slugs have neither a colon nor a slash. */
function nameOf({ upstream, model }: Place): string {
  return model === undefined ? `${PREFIX}${upstream}` : `${PREFIX}${upstream}/${model}`;
}

function placeOf(name: string): Place {
  const [upstream = '', model] = name.slice(PREFIX.length).split('/');
  return model === undefined ? { upstream } : { upstream, model };
}
