// The type of a benchmark row, and the comparison that most rows make: cases measured side by side.

import type { Ask } from './catalog.ts';
import { interleave, measure, type Sample, type Subject } from './measure.ts';
import type { Rig } from './rig.ts';

/** A figure of the closing table, with a value for each build. */
export type Finding = { readonly name: string; readonly values: readonly string[] };

export type BenchRow = {
  readonly name: string;
  /** Part of `scripts/bench quick`. */
  readonly quick?: boolean;
  /** Runs only where it is named, because it takes minutes. */
  readonly onDemand?: boolean;
  readonly run: (rig: Rig) => Promise<readonly Finding[]>;
};

export type Case = {
  readonly name: string;
  readonly subject: Subject;
  readonly ask: Ask;
};

export type CompareOptions = { readonly connections: number };

/** The compiler of the runtime needs about so many requests until it has nothing left to do. */
const WARM_REQUESTS = 15_000;
const WARM_WINDOWS = 10;

/** Warms up each case that is new, then measures them in turns. */
export async function compare<C extends Case>(
  rig: Rig,
  cases: readonly C[],
  options: CompareOptions,
): Promise<Map<C, readonly Sample[]>> {
  const take = (seconds: number) => (each: C) =>
    measure(each.subject, each.ask, { ...options, seconds }, rig.upstream.pid);
  for (const each of cases) {
    if (rig.isCold(each.subject, each.ask)) await warmUp(() => take(1)(each));
  }
  return interleave(cases, rig.rounds, take(rig.seconds));
}

async function warmUp(window: () => Promise<Sample>): Promise<void> {
  let requests = 0;
  for (let windows = 0; windows < WARM_WINDOWS; windows += 1) {
    requests += (await window()).requests;
    if (requests >= WARM_REQUESTS) return;
  }
}
