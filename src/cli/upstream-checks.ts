// The part of `tollgate doctor` about upstreams: what the running server of these settings warns of,
// and models whose last requests all failed, perhaps by the fault of clients.

import { toList, toObject } from '../wire/upstream/narrow.ts';
import type { Context } from './context.ts';
import { askServer } from './health.ts';

/** Without METRICS_TOKEN the server of another machine counts upstreams and names none. */
export async function checkUpstreams(
  context: Context,
): Promise<{ readonly ok: boolean; readonly detail: string }> {
  const config = context.config();
  const answer =
    config.port === 0 ? undefined : await askServer(config, '/readyz', config.metricsToken);
  if (answer === undefined) return { ok: true, detail: 'no server of these settings runs' };
  const { warnings } = toObject(await answer.json().catch(() => undefined));
  const all = toList(warnings)
    .map(String)
    .filter((words) => /^(?:upstream |\d+ × |the last requests of )/.test(words));
  const found = all.filter((words) => !words.startsWith('the last requests of '));
  return { ok: found.length === 0, detail: all.join('; ') || 'none fails at the running server' };
}
