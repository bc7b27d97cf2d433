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

/** The compiler of the runtime is done after so much load, on machines that other programs use too. */
const WARM_SECONDS = 15;
/** Code that has been idle for longer is slow again. */
const IDLE_SECONDS = 20;

/**
 * Measures the cases in turns, side by side in one run. Warms up a case that is new, and one that has
 * been idle: the runtime drops compiled code with time.
 */
export async function compare<C extends Case>(
  rig: Rig,
  cases: readonly C[],
  options: CompareOptions,
): Promise<Map<C, readonly Sample[]>> {
  const window = (seconds: number) => (each: C) =>
    measure(each.subject, each.ask, { ...options, seconds }, rig.upstream.pid);
  const lastUsed = new Map<C, number>();
  async function take(each: C): Promise<Sample> {
    const idleMs = performance.now() - (lastUsed.get(each) ?? Number.NEGATIVE_INFINITY);
    if (idleMs > IDLE_SECONDS * 1_000) await window(WARM_SECONDS)(each);
    const sample = await window(rig.seconds)(each);
    lastUsed.set(each, performance.now());
    return sample;
  }
  return interleave(cases, rig.rounds, take);
}
