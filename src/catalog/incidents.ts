// Lower limits of a model during a capacity incident, set by operators at run time. Requests read a
// snapshot in memory. core applies the lower of plan and model limit.

import { asc, eq } from 'drizzle-orm';
import { type IncidentLimits, LIMIT_NAMES } from '../core/plan.ts';
import type { ServiceState } from '../core/service-state.ts';
import type { Database } from '../store/contract.ts';
import { incidentLimits } from '../store/tables.ts';

export type Incident = typeof incidentLimits.$inferSelect;

/** The effective limits of a model's slug from the database; `undefined` without an incident. */
export async function readIncidents(database: Database): Promise<ServiceState['incidentOf']> {
  const rows = await database.db.select().from(incidentLimits).all();
  const byModel = new Map(rows.map((row) => [row.model, Object.freeze(presentLimits(row))]));
  return (modelSlug) => byModel.get(modelSlug);
}

export function createIncidents(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
}) {
  const { database, clock } = dependencies;
  const { db } = database;

  return {
    /** All current incidents by model, from the database. */
    list: async (): Promise<Incident[]> =>
      db.select().from(incidentLimits).orderBy(asc(incidentLimits.model)).all(),
    /**
     * Replaces the limits of a model. At least one is required, each a whole number of at least 1;
     * throws `RangeError` otherwise. The caller checks that the model exists.
     */
    async set(model: string, limits: IncidentLimits, reason: string): Promise<Incident> {
      const values = LIMIT_NAMES.flatMap((field) => limits[field] ?? []);
      if (
        values.length === 0 ||
        values.some((value) => !Number.isSafeInteger(value) || value < 1)
      ) {
        throw new RangeError('An incident needs at least one limit, a whole number of at least 1.');
      }
      const row: Incident = {
        model,
        requestsPerMinute: limits.requestsPerMinute ?? null,
        tokensPerMinute: limits.tokensPerMinute ?? null,
        concurrentRequests: limits.concurrentRequests ?? null,
        reason,
        updatedAt: clock(),
      };
      await db
        .insert(incidentLimits)
        .values(row)
        .onConflictDoUpdate({ target: incidentLimits.model, set: row })
        .run();
      return row;
    },
    /** Ends the incident of a model; `false` if there was none. */
    async clear(model: string): Promise<boolean> {
      const removed = await db
        .delete(incidentLimits)
        .where(eq(incidentLimits.model, model))
        .returning({ model: incidentLimits.model })
        .all();
      return removed.length > 0;
    },
  };
}

function presentLimits(row: Incident): IncidentLimits {
  return Object.fromEntries(
    LIMIT_NAMES.flatMap((field) => (row[field] === null ? [] : [[field, row[field]]])),
  );
}
