// Reports which servers have applied a change: for changes that must be effective everywhere, such
// as the revocation of a key.

import { type Confirmation, confirmSeen } from '../cluster/confirm.ts';
import { CACHE_TIME_MS } from '../identity/authenticate.ts';
import type { Context } from './context.ts';
import { isServing } from './is-server-running.ts';

/**
 * Waits up to 5 s for every live node to apply the change. Never rejects: the change is committed,
 * and its result must be printed.
 */
export async function confirmed(context: Context) {
  try {
    return await ask(context);
  } catch {
    return {
      json: [],
      text: 'It is unknown whether the nodes have applied it. Check them with tollgate nodes.',
    };
  }
}

async function ask(context: Context) {
  const { database } = await context.openStore();
  const monotonic = (): number => performance.now();
  const confirmations = (await isServing(context))
    ? await confirmSeen(database, { monotonic, announce: context.announce })
    : [];
  const json = confirmations.map(({ node, host, afterMs }) => ({
    node,
    host,
    confirmed_after_ms: afterMs,
  }));
  return { json, text: textOf(confirmations) };
}

/** One sentence, and one more for each node that did not confirm. */
function textOf(confirmations: readonly Confirmation[]): string {
  if (confirmations.length === 0) return 'No server is running.';
  const times = confirmations.flatMap(({ afterMs }) => afterMs ?? []);
  const late = confirmations.filter(({ afterMs }) => afterMs === null);
  const last = times.length === 0 ? '' : `, the last after ${Math.max(...times)} ms`;
  const nodes = confirmations.length === 1 ? 'node has' : 'nodes have';
  return [
    `${times.length} of ${confirmations.length} ${nodes} confirmed it${last}.`,
    ...late.map(
      ({ node, host }) =>
        `${node} (${host}) has not: it caches keys for ${CACHE_TIME_MS / 1_000} s at most. Check it with tollgate nodes.`,
    ),
  ].join('\n');
}
