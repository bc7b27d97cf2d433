// What a Redis that knows nothing of an account is told: what was admitted within the last minute, as
// the books have it, by whichever node. Called by exchange.ts.

import type { Limits } from '../../core/plan.ts';
import { resumeWindow, WINDOW_MS } from '../../core/window.ts';
import type { AdmissionHistory } from '../contract.ts';
import { type Counters, LAPSE_MS, modelName } from './counters.ts';
import type { SeedWindow } from './script.ts';

export type SeedDependencies = {
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** How many nodes lease, at least 1. */
  readonly liveNodes: () => number;
  readonly history: AdmissionHistory;
  readonly sleep: (ms: number) => Promise<unknown>;
};

/**
 * What was admitted within the last minute, by all. Where others live they may still use what they
 * were given by a Redis that has forgotten it: nobody decides before that has lapsed.
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
  // What this holder has admitted is among it.
  counters.windows.clear();
  const own = sinceBoundary(past, startedAtMs, monotonic());
  return [['plan', resumeWindow(own, plan)] as const, ...models].flatMap(([name, window]) =>
    window.startedAt === undefined
      ? []
      : [{ name, age: -window.startedAt, count: window.requests, tokens: window.tokens }],
  );
}

/**
 * Those of the window that runs, where a holder knew when the last one began or ended: two windows
 * that are taken for one would end too early. What began up to a second before may still count.
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
