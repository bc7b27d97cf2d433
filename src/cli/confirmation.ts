// What a command says about the servers that have taken up its change: for changes where somebody has
// to know that they are in force everywhere, such as the end of a key.

import { type Confirmation, confirmSeen } from '../cluster/confirm.ts';
import { CACHE_TIME_MS } from '../identity/authenticate.ts';
import type { Context } from './context.ts';
import { isServing } from './is-server-running.ts';

export type Confirmed = {
  readonly json: readonly ConfirmationRecord[];
  /** One sentence, or one more for each node that did not confirm. */
  readonly text: string;
};

type ConfirmationRecord = {
  readonly node: string;
  readonly host: string;
  /** Milliseconds; null where the node did not say so in time. */
  readonly confirmed_after_ms: number | null;
};

/**
 * Waits up to 5 s for every live node to have taken up what was written before. Never rejects: what
 * the command did is done, and has to be told.
 */
export async function confirmed(context: Context): Promise<Confirmed> {
  try {
    return await ask(context);
  } catch {
    return { json: [], text: 'Whether the nodes know of it could not be found out.' };
  }
}

async function ask(context: Context): Promise<Confirmed> {
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

function textOf(confirmations: readonly Confirmation[]): string {
  if (confirmations.length === 0) return 'No server runs that would have to know.';
  const times = confirmations.flatMap(({ afterMs }) => afterMs ?? []);
  const late = confirmations.filter(({ afterMs }) => afterMs === null);
  const last = times.length === 0 ? '' : `, the last after ${Math.max(...times)} ms`;
  const nodes = confirmations.length === 1 ? 'node has' : 'nodes have';
  return [
    `${times.length} of ${confirmations.length} ${nodes} confirmed it${last}.`,
    ...late.map(
      ({ node, host }) =>
        `${node} (${host}) has not: it remembers keys for ${CACHE_TIME_MS / 1_000} s at most. tollgate nodes says how it does.`,
    ),
  ].join('\n');
}
