// One of several threads that claim from the same memory as fast as they can: started by
// thread-workers.test.ts, answers with what it was given.

import { tokenCount } from '../../src/core/money.ts';
import type { Plan } from '../../src/core/plan.ts';
import { createLimits } from '../../src/limits/limits.ts';
import type { LimitMemory } from '../../src/limits/threads.ts';

/** `seen` has two cells: requests in flight now, and the most there ever were. */
export type Hammering = {
  readonly memory: LimitMemory;
  readonly seen: SharedArrayBuffer;
  readonly thread: number;
  readonly nowMs: number;
  readonly plan: Plan;
  readonly claims: number;
  /** What each request turns out to have used. */
  readonly used: number;
};

export type Hammered = { readonly admitted: number; readonly codes: Record<string, number> };

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<Hammering>) => {
  const { memory, thread, nowMs, plan, claims, used } = data;
  const seen = new Int32Array(data.seen);
  const limits = createLimits({
    shared: { memory, thread },
    // All that happens here is in one minute, however long it takes.
    clock: () => nowMs,
    monotonic: () => 1_000,
    isLive: () => true,
    history: { admittedSince: () => [], mark: () => 0, usedBefore: () => 0 },
  });
  const codes: Record<string, number> = {};
  let admitted = 0;
  for (let turn = 0; turn < claims; turn += 1) {
    const result = await limits.claim({
      requestId: `req_${thread}_${turn}`,
      startedAt: nowMs,
      accountId: 'acct_1',
      model: `model-${turn % 2}`,
      plan,
      incident: undefined,
      promptTokens: tokenCount(5),
      outputBound: tokenCount(5),
    });
    if (result.kind === 'refused') {
      codes[result.code] = (codes[result.code] ?? 0) + 1;
      continue;
    }
    admitted += 1;
    const inFlight = Atomics.add(seen, 0, 1) + 1;
    for (let most = Atomics.load(seen, 1); inFlight > most; most = Atomics.load(seen, 1)) {
      Atomics.compareExchange(seen, 1, most, inFlight);
    }
    Atomics.sub(seen, 0, 1);
    result.claim.settle(used);
  }
  self.postMessage({ admitted, codes } satisfies Hammered);
};
