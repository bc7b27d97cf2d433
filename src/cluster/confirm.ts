// Checks whether every live node has applied a change: each of them records up to which database
// time it has seen all changes. For commands that report it.

import type { Database } from '../store/contract.ts';
import { readDatabaseTime } from '../store/database-time.ts';
import { createNodes, EVICT_MS, type NodeRow } from './nodes.ts';

export type Confirmation = {
  readonly node: string;
  readonly host: string;
  /** How long after the call the node had confirmed; null: not in time. */
  readonly afterMs: number | null;
};

type ConfirmOptions = {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly timeoutMs?: number;
  /** Asks the nodes to look now; they also poll by themselves. */
  readonly announce?: () => Promise<void>;
};

const TIMEOUT_MS = 5_000;
const POLL_MS = 25;

/**
 * Waits until every live node has applied what was committed before, and reports on each. Leaves
 * out nodes that end in the meantime: they serve no requests.
 */
export async function confirmSeen(
  database: Database,
  { monotonic, timeoutMs = TIMEOUT_MS, announce }: ConfirmOptions,
): Promise<readonly Confirmation[]> {
  const nodes = createNodes(database);
  const askedAt = monotonic();
  const since = await readDatabaseTime(database);
  await announce?.();
  const asked = (await nodes.list()).filter(isLive);
  const after = new Map<string, number>();
  let left: readonly NodeRow[] = asked;
  for (;;) {
    const rows = new Map((await nodes.list()).map((row) => [row.boot, row]));
    left = left.flatMap(({ boot }) => rows.get(boot) ?? []).filter((row) => row.deadAt === null);
    for (const { boot, seenAt } of left) {
      if (seenAt > since) after.set(boot, Math.round(monotonic() - askedAt));
    }
    left = left.filter(({ boot }) => !after.has(boot));
    if (left.length === 0 || monotonic() - askedAt >= timeoutMs) break;
    await Bun.sleep(POLL_MS);
  }
  const late = new Set(left.map(({ boot }) => boot));
  return asked
    .filter(({ boot }) => after.has(boot) || late.has(boot))
    .map(({ boot, node, host }) => ({ node, host, afterMs: after.get(boot) ?? null }));
}

/** Whether any node serves, by the database. */
export async function isAnyLive(database: Database): Promise<boolean> {
  return (await createNodes(database).list()).some(isLive);
}

function isLive({ deadAt, silentMs }: NodeRow): boolean {
  return deadAt === null && silentMs < EVICT_MS;
}
