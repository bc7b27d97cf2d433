// One sample of a running gateway, from /proc and its folder, and what a series of them says.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { leasts, medians, type Point, type Slope, slopeOf } from './slope.ts';

const MIB = 1_024 * 1_024;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/**
 * Windows of memory: the least of each is what its collections leave. Wider ones are fewer, so
 * their interval is wider.
 */
const LEAST_MS = MINUTE_MS;
/** More than the time between two samples. */
const SLACK_MS = 15_000;

type Memory = {
  readonly residentBytes: number;
  /** The part of it that no file has: heaps and stacks. */
  readonly anonymousBytes: number;
};

/** Its memory is the least since the sample before: it grows again soon after a collection. */
export type Sample = Memory & {
  /** Since the load began. */
  readonly atMs: number;
  /** Sent so far. */
  readonly requests: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly databaseBytes: number;
  /** Grows to its bound, and starts over at a checkpoint. */
  readonly logBytes: number;
};

/** Keeps the least of what it has seen since it was last asked. */
export class MemoryLeast {
  readonly #pid: number;
  #least: Memory | undefined;

  constructor(pid: number) {
    this.#pid = pid;
  }

  look(): Memory {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
    const bytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) * 1_024;
    const now = { residentBytes: bytes('VmRSS'), anonymousBytes: bytes('RssAnon') };
    if (now.residentBytes <= (this.#least?.residentBytes ?? now.residentBytes)) this.#least = now;
    return this.#least ?? now;
  }

  take(): Memory {
    const least = this.look();
    this.#least = undefined;
    return least;
  }
}

export function takeSample(
  gateway: { readonly pid: number; readonly databasePath: string },
  so: Pick<Sample, 'atMs' | 'requests'> & Memory,
): Sample {
  const size = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return {
    ...so,
    descriptors: readdirSync(`/proc/${gateway.pid}/fd`).length,
    threads: readdirSync(`/proc/${gateway.pid}/task`).length,
    databaseBytes: size(gateway.databasePath),
    logBytes: size(`${gateway.databasePath}-wal`),
  };
}

export type Verdict = 'passed' | 'failed' | 'undecided';

export type Growth = {
  readonly name: string;
  readonly unit: string;
  readonly first: number;
  readonly last: number;
  readonly slope: Slope | undefined;
  /** Growth per hour that the whole interval has to stay below; absent: only reported. */
  readonly bound?: number;
  readonly verdict?: Verdict;
};

/**
 * The growth of each series after `settleMs`, per hour. That of memory is judged by the least of each
 * minute: garbage and bursts lie above it, and what is never returned raises it. The others
 * are taken from the medians of each minute. A series passes where the whole interval of confidence
 * is below the bound, and fails where all of it is above.
 */
export function growthOf(samples: readonly Sample[], settleMs: number, memoryBound = 1): Growth[] {
  const settled = samples.filter(({ atMs }) => atMs >= settleMs);
  const series = (
    name: string,
    unit: string,
    read: (sample: Sample) => number,
    bound?: number,
    ofWindows = (points: readonly Point[]) => medians(points, MINUTE_MS / HOUR_MS),
  ): Growth => {
    const points = ofWindows(
      settled.map((sample) => ({ x: sample.atMs / HOUR_MS, y: read(sample) })),
    );
    const slope = slopeOf(points);
    return {
      ...{ name, unit, slope },
      first: points[0]?.y ?? Number.NaN,
      last: points.at(-1)?.y ?? Number.NaN,
      ...(bound === undefined ? {} : { bound, verdict: judge(slope, bound) }),
    };
  };
  // The last window counts once it is over: its least comes late.
  const over = ((samples.at(-1)?.atMs ?? 0) + SLACK_MS) / HOUR_MS;
  const least = (points: readonly Point[]) =>
    leasts(points, LEAST_MS / HOUR_MS).filter(({ x }) => x + LEAST_MS / HOUR_MS / 2 <= over);
  const resident = ({ residentBytes }: Sample): number => residentBytes / MIB;
  return [
    series('least resident memory', 'MiB', resident, memoryBound, least),
    series('resident memory', 'MiB', resident),
    series('anonymous memory', 'MiB', ({ anonymousBytes }) => anonymousBytes / MIB),
    // Pools of connections grow and shrink by some ten; a leak of one in a thousand requests is more.
    series('open files', 'files', ({ descriptors }) => descriptors, 10),
    series('threads', 'threads', ({ threads }) => threads, 1),
    series('database', 'MiB', ({ databaseBytes }) => databaseBytes / MIB),
    series('its log', 'MiB', ({ logBytes }) => logBytes / MIB),
  ].filter(({ first }) => settled.length === 0 || !Number.isNaN(first));
}

function judge(slope: Slope | undefined, bound: number): Verdict {
  if (slope === undefined) return 'undecided';
  if (slope.high < bound) return 'passed';
  return slope.low > bound ? 'failed' : 'undecided';
}

/** Of the database, per request sent after `settleMs`. */
export function bytesPerRequest(samples: readonly Sample[], settleMs: number): number {
  const settled = samples.filter(({ atMs }) => atMs >= settleMs);
  const [first, last] = [settled[0], settled.at(-1)];
  if (first === undefined || last === undefined || last.requests === first.requests) return 0;
  return (last.databaseBytes - first.databaseBytes) / (last.requests - first.requests);
}
