// Upstreams, or single models at an upstream, that the operator has disabled at run time. Requests
// read a snapshot in memory, and routing skips disabled ones (core/route.ts). Independent of the
// catalog: the setting stays until it is reverted.

import { eq, like } from 'drizzle-orm';
import type { ServiceState } from '../core/service-state.ts';
import type { Database } from '../store/contract.ts';
import { settings } from '../store/tables.ts';

/** An upstream of the catalog, or one model at it. */
export type Place = {
  readonly upstream: string;
  /** The slug of a model; absent for all of them. */
  readonly model?: string | undefined;
};

export type DisabledPlace = Place & {
  readonly reason: string;
  /** Unix milliseconds. */
  readonly since: number;
};

/** The current state in the database, in the form that requests use. */
export async function readDisabled(database: Database): Promise<ServiceState['isDisabled']> {
  const names = new Set((await rows(database)).map(({ name }) => name));
  if (names.size === 0) return () => false;
  return (upstream, model) =>
    names.has(nameOf({ upstream })) || names.has(nameOf({ upstream, model }));
}

/** All disabled upstreams and models. */
export async function listDisabled(database: Database): Promise<DisabledPlace[]> {
  return (await rows(database))
    .map(({ name, value, updatedAt }) => ({
      ...placeOf(name),
      reason: value,
      since: updatedAt,
    }))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/**
 * The caller checks that the catalog has the place and writes the audit event in the same
 * transaction.
 */
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

/** `false` if it was not disabled. */
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

/** Ids and slugs contain neither colons nor slashes. */
function nameOf({ upstream, model }: Place): string {
  return model === undefined ? `${PREFIX}${upstream}` : `${PREFIX}${upstream}/${model}`;
}

function placeOf(name: string): Place {
  const [upstream = '', model] = name.slice(PREFIX.length).split('/');
  return model === undefined ? { upstream } : { upstream, model };
}
