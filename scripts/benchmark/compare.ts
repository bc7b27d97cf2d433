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

/**
 * Measures the cases in turns, side by side in one run. They are warmed up in turns as well: code that
 * has been idle for 20 s is slow again.
 */
export async function compare<C extends Case>(
  rig: Rig,
  cases: readonly C[],
  options: CompareOptions,
): Promise<Map<C, readonly Sample[]>> {
  const { rounds, seconds } = rig;
  const take = (each: C) =>
    measure(each.subject, each.ask, { ...options, seconds }, rig.upstream.pid);
  for (let warmSeconds = 0; warmSeconds < WARM_SECONDS; warmSeconds += seconds) {
    for (const each of cases) await take(each);
  }
  return interleave(cases, rounds, take);
}
