// Sets and clears reduced limits of a model during a capacity incident, each with its audit event.
// Called by the command line and the console.

import { createIncidents, type Incident } from '../catalog/incidents.ts';
import { isoTime } from '../core/calendar.ts';
import type { Catalog, Model } from '../core/model.ts';
import { type IncidentLimits, LIMIT_NAMES } from '../core/plan.ts';
import { auditChange, type Change } from '../identity/audit.ts';
import { OperationError } from './error.ts';

/**
 * Replaces the limits of a model. Throws `model_not_found`, and `no_limits` where none is given;
 * each is a whole number of at least 1.
 */
export async function setIncident(
  change: Change,
  catalog: Catalog,
  name: string,
  limits: IncidentLimits,
  reason: string,
): Promise<Incident> {
  const { slug: model } = requireModel(catalog, name);
  if (LIMIT_NAMES.every((field) => limits[field] === undefined)) {
    throw new OperationError(
      'no_limits',
      'Give at least one limit: requests per minute, tokens per minute, or concurrent requests.',
    );
  }
  return change.database.transaction(async () => {
    await auditChange(change, 'incident.set', model, { ...limits, reason });
    return createIncidents(change).set(model, limits, reason);
  });
}

/** Throws `model_not_found`. */
export function requireModel(catalog: Catalog, name: string): Model {
  const model = catalog.resolve(name);
  if (model !== undefined) return model;
  throw new OperationError(
    'model_not_found',
    'There is no model with this slug or alias; tollgate models lists them.',
  );
}

/** Accepts a slug that the catalog no longer has. `cleared` is false where there was none. */
export async function clearIncident(
  change: Change,
  catalog: () => Catalog,
  name: string,
): Promise<{ readonly model: string; readonly cleared: boolean }> {
  const incidents = createIncidents(change);
  const known = (await incidents.list()).some((incident) => incident.model === name);
  const model = known ? name : (catalog().resolve(name)?.slug ?? name);
  const cleared = await change.database.transaction(async () => {
    const found = await incidents.clear(model);
    if (found) await auditChange(change, 'incident.cleared', model);
    return found;
  });
  return { model, cleared };
}

export function incidentRecord(incident: Incident) {
  return {
    model: incident.model,
    requests_per_minute: incident.requestsPerMinute,
    tokens_per_minute: incident.tokensPerMinute,
    concurrent_requests: incident.concurrentRequests,
    reason: incident.reason,
    updated_at: isoTime(incident.updatedAt),
  } as const;
}
