// Recovers silent nodes on the leader: evicts them and ends the holds that they left open. The
// ledger ends each hold once, even if the evicted node tries as well.

import { every } from '../async/every.ts';
import type { UsdRate } from '../core/money.ts';
import type { Ledger, Recovered } from '../ledger/contract.ts';
import { holdingIncarnations, recoverAll } from '../ledger/recover.ts';
import type { Database } from '../store/contract.ts';
import type { Member, MemberOptions } from './member.ts';
import type { Nodes } from './nodes.ts';

/**
 * How soon the leader notices; the documentation promises that a dead node's holds end within 30 s.
 */
const LOOK_MS = 1_000;

/** How often rows of nodes evicted long ago are deleted. */
const SWEEP_MS = 600_000;

export type RecoveryOptions = {
  readonly database: Database;
  readonly nodes: Nodes;
  readonly member: Pick<Member, 'silent'>;
  readonly ledger: Ledger;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** The current price of a million service tokens, for requests that no longer have it. */
  readonly usdPerMillion: () => UsdRate;
  readonly log: Pick<MemberOptions['log'], 'warn' | 'error'>;
};

/** One pass. Resolves with the holds that it ended. */
export async function recoverEvicted(options: RecoveryOptions): Promise<readonly Recovered[]> {
  const { database, nodes, member, ledger, clock, usdPerMillion, log } = options;
  for (const row of member.silent()) {
    if (!(await nodes.evict(row))) continue;
    log.warn(`cluster: ${row.node} (${row.host}) is evicted: no heartbeat for too long`);
  }
  // Read in this order: an incarnation registers before it holds anything, so one that has holds
  // and is not live afterwards was evicted or has deregistered.
  const incarnations = await holdingIncarnations(database);
  if (incarnations.length === 0) return [];
  const rows = await nodes.list();
  const alive = new Set(rows.filter((row) => row.deadAt === null).map((row) => row.boot));
  const evicted = incarnations.filter((each) => !alive.has(each));
  if (evicted.length === 0) return [];
  const recovered = await recoverAll(ledger, {
    incarnations: evicted,
    live: [],
    createdBefore: Number.MAX_SAFE_INTEGER,
    phase: 'ended',
    usdPerMillion: usdPerMillion(),
    nowMs: clock(),
  });
  if (recovered.length > 0) {
    log.warn(`ledger: recovered ${recovered.length} open holds of ${evicted.length} evicted nodes`);
  }
  return recovered;
}

/** A job of the leader (`duties.ts`). Returns a function that stops it. */
export function startRecovery(options: RecoveryOptions): () => void {
  const stopLooking = every(
    LOOK_MS,
    () => recoverEvicted(options),
    (error) => options.log.error('cluster: could not recover evicted nodes', error),
  );
  const stopSweeping = every(SWEEP_MS, options.nodes.sweep, () => undefined);
  return () => {
    stopLooking();
    stopSweeping();
  };
}
