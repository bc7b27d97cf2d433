// The part of `tollgate doctor` that asks whether upstreams answer: what a running server warns of,
// and, from the books of all nodes, models whose every attempt of the last hours failed.

import { FAILURES } from '../core/failure.ts';
import { isObject } from '../core/json.ts';
import { createSpeedReader } from '../ledger/series/speeds.ts';
import { failingPlaces } from '../operations/upstream-words.ts';
import type { Database } from '../store/contract.ts';
import type { Context } from './context.ts';
import { askServer } from './health.ts';

const HOUR_MS = 3_600_000;

/** Fewer may be those of one client. */
const FAILURES_MIN = 3;

export async function checkUpstreams(
  database: Database,
  context: Context,
): Promise<{ readonly ok: boolean; readonly detail: string }> {
  const found = [...(await warningsOfServer(context)), ...(await failing(database, context))];
  if (found.length === 0) return { ok: true, detail: 'none fails' };
  return { ok: false, detail: found.join('; ') };
}

/** Places of the catalog that have failed, with what they said last, and served nothing. */
async function failing(database: Database, context: Context): Promise<string[]> {
  const hour = Math.floor(context.clock() / HOUR_MS) * HOUR_MS;
  const edges = [hour - HOUR_MS, hour, hour + HOUR_MS];
  const readSpeeds = createSpeedReader(database);
  const lines: string[] = [];
  for (const place of await failingPlaces(database, hour - HOUR_MS, OPERATORS_CLASSES)) {
    const { upstream, model, count, words } = place;
    const placements = context.catalog().resolve(model)?.servedBy ?? [];
    if (count < FAILURES_MIN || placements.every((each) => each.upstream !== upstream)) continue;
    const cells = await readSpeeds({ subject: `upstream:${upstream}`, model, edges });
    if (cells.some(({ speeds }) => speeds.attempts > speeds.failed)) continue;
    lines.push(`upstream ${upstream} has served nothing for ${model}; it said "${words}"`);
  }
  return lines;
}

/** Failures that are not of the caller's request. */
const OPERATORS_CLASSES = Object.entries(FAILURES).flatMap(([kind, { fault }]) =>
  fault !== 'neither' || kind === 'mismatch' ? [kind] : [],
);

/** Without METRICS_TOKEN the server of another machine names no upstream. */
async function warningsOfServer(context: Context): Promise<string[]> {
  const config = context.config();
  if (config.port === 0) return [];
  const answer = await askServer(config, '/readyz', config.metricsToken);
  const body: unknown = await answer?.json().catch(() => undefined);
  const listed = isObject(body) ? body['warnings'] : undefined;
  const warnings = Array.isArray(listed) ? listed : [];
  return warnings.map(String).filter((words) => /^(?:upstream |\d+ × )/.test(words));
}
