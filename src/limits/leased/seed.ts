// Rebuilds an account for a Redis without state: what any node admitted within the last minute,
// from the ledger.

import type { Limits } from '../../core/plan.ts';
import { resumeWindow, WINDOW_MS } from '../../core/window.ts';
import type { LimitsDependencies } from '../contract.ts';
import { type Counters, LAPSE_MS, modelName } from './counters.ts';
import type { SeedWindow } from './script.ts';

export type SeedDependencies = Pick<LimitsDependencies, 'clock' | 'monotonic' | 'history'> & {
  /** The number of nodes that lease, at least 1: each has its share while Redis is away. */
  readonly liveNodes: () => number;
  /** Real time, except in tests. */
  readonly sleep: (ms: number) => Promise<unknown>;
};

/**
 * All admissions of the last minute. Other live nodes may still use permits of a Redis that lost
 * its state, so no request is decided before those have expired.
 */
export async function seedOf(
  { history, clock, monotonic, liveNodes, sleep }: SeedDependencies,
  counters: Counters,
  plan: Partial<Limits>,
): Promise<SeedWindow[]> {
  const startedAtMs = counters.windows.get('plan')?.startedAtMs;
  const lastMinute = async () => {
    const timeMs = clock();
    const since = await history.admittedSince(timeMs - WINDOW_MS + 1, counters.accountId);
    return since
      .filter(({ accountId }) => accountId === counters.accountId)
      .map((each) => ({ ...each, atMs: Math.min(0, each.startedAt - timeMs) }));
  };
  let past = await lastMinute();
  if (past.length > 0 && liveNodes() > 1) {
    await sleep(LAPSE_MS);
    past = await lastMinute();
  }
  const models = [...Map.groupBy(past, ({ model }) => model)].map(
    ([model, admitted]) => [modelName(model), resumeWindow(admitted, {})] as const,
  );
  // They include this holder's own admissions.
  counters.windows.clear();
  const own = sinceBoundary(past, startedAtMs, monotonic());
  return [['plan', resumeWindow(own, plan)] as const, ...models].flatMap(([name, window]) =>
    window.startedAt === undefined
      ? []
      : [{ name, age: -window.startedAt, count: window.requests, tokens: window.tokens }],
  );
}

/**
 * The admissions of the current window, if a holder knew when the previous one began or ended:
 * merging two windows would end the result too early. Admissions up to a second earlier may still
 * count.
 */
function sinceBoundary<Past extends { readonly atMs: number }>(
  past: readonly Past[],
  startedAtMs: number | undefined,
  nowMs: number,
): readonly Past[] {
  if (startedAtMs === undefined) return past;
  const startMs = startedAtMs - nowMs;
  const boundaryMs = startMs > -WINDOW_MS ? startMs : startMs + WINDOW_MS;
  return past.filter(({ atMs }) => atMs >= boundaryMs - LAPSE_MS);
}
