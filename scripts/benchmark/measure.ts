// Measures subjects side by side in short windows of load, in rotating order, until each subject
// has enough windows without other activity on the machine.

import { statSync } from 'node:fs';
import type { Ask } from './catalog.ts';
import { type Load, runLoad } from './load.ts';
import { busyUs, type Cpu, cpuOf, pin, processUs, writtenBytes } from './machine.ts';

/** What answers requests: a gateway, or something that it is compared with. */
export type Subject = {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly key: string;
  /** Where it writes its log; what goes there is not counted as written to the disk. */
  readonly log?: string;
  /** What it has used, where that is more than its process. */
  readonly cpu?: () => Cpu;
};

export type Sample = {
  readonly requests: number;
  readonly rate: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Microseconds of CPU a request: all threads, and of them the main thread and the ledger's. */
  readonly cpu: Cpu;
  readonly diskBytes: number;
  /** Cores that others used. */
  readonly others: number;
};

type Window = { readonly connections: number; readonly seconds: number };

/** Nothing of a measurement may fail, but for what the end of a window cuts off. */
const FAILURES = 0.001;

/** `upstreamPid` is of our own as well. */
export async function measure(
  subject: Subject,
  ask: Ask,
  window: Window,
  upstreamPid: number,
): Promise<Sample> {
  const { connections, seconds } = window;
  const load = { ...loadOf(subject, ask, connections), seconds };
  const before = read(subject, upstreamPid);
  const measured = await runLoad(load, pin(1));
  const after = read(subject, upstreamPid);
  const { requests, errors } = measured;
  // The disk may stand still for as long as a window.
  if (requests + errors === 0) return measure(subject, ask, window, upstreamPid);
  if (errors > requests * FAILURES) {
    throw new Error(`${errors} of ${requests} requests to ${subject.name} failed`);
  }
  const used = (thread: keyof Cpu) => after.cpu[thread] - before.cpu[thread];
  const ours = used('all') + after.ours - before.ours + measured.cpuUs;
  const others = (after.busyUs - before.busyUs - ours) / (after.atUs - before.atUs);
  return {
    requests,
    rate: requests / measured.seconds,
    p50Us: measured.p50Us,
    p99Us: measured.p99Us,
    cpu: {
      all: used('all') / requests,
      main: used('main') / requests,
      ledger: used('ledger') / requests,
    },
    diskBytes: (after.diskBytes - before.diskBytes) / requests,
    others: Math.max(0, others),
  };
}

/** So many connections that ask this of it. */
export function loadOf(subject: Subject, ask: Ask, connections: number): Omit<Load, 'seconds'> {
  const key = ask.keyless === true ? {} : { authorization: `Bearer ${subject.key}` };
  return {
    url: subject.url + ask.path,
    ...(ask.body === undefined ? {} : { body: ask.body }),
    headers: { 'content-type': 'application/json', ...key },
    ...{ connections, status: ask.status ?? 200 },
  };
}

function read(subject: Subject, upstreamPid: number) {
  const log = subject.log === undefined ? 0 : statSync(subject.log).size;
  return {
    atUs: performance.now() * 1_000,
    cpu: subject.cpu?.() ?? cpuOf(subject.pid),
    ours: processUs(upstreamPid) + processUs(process.pid),
    busyUs: busyUs(),
    diskBytes: writtenBytes(subject.pid) - log,
  };
}

/** A window in which others used more than this share of a core counts only where none is calmer. */
const CALM = 0.25;

/** So many times as many rounds are tried as are wanted. */
const MOST_ROUNDS = 2;

/** The calm samples of each subject, or all of them where too few are calm. */
export async function interleave<S extends { readonly name: string }>(
  subjects: readonly S[],
  rounds: number,
  take: (subject: S) => Promise<Sample>,
): Promise<Map<S, readonly Sample[]>> {
  const samples = new Map<S, Sample[]>(subjects.map((subject) => [subject, []]));
  const calm = (subject: S) => samples.get(subject)?.filter(({ others }) => others <= CALM) ?? [];
  for (let round = 0; round < rounds * MOST_ROUNDS; round += 1) {
    if (subjects.every((subject) => calm(subject).length >= rounds)) break;
    const first = round % subjects.length;
    for (const subject of [...subjects.slice(first), ...subjects.slice(0, first)]) {
      samples.get(subject)?.push(await take(subject));
    }
  }
  const enough = Math.ceil(rounds / 2);
  return new Map(
    subjects.map((subject) => {
      const best = calm(subject);
      return [subject, best.length >= enough ? best : (samples.get(subject) ?? [])];
    }),
  );
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** The median of one figure over all samples. */
export function mid(samples: readonly Sample[] = [], figure: (sample: Sample) => number): number {
  return median(samples.map(figure));
}

/** How far a figure spread, and what others used; `~` marks a machine that was never calm. */
export function noise(samples: readonly Sample[] = []): string {
  const rates = samples.map(({ rate }) => rate);
  const spread = ((Math.max(...rates) - Math.min(...rates)) / median(rates)) * 100;
  const others = mid(samples, (sample) => sample.others);
  return `${others > CALM ? '~' : ''}±${(spread / 2).toFixed(0)} %, ${others.toFixed(2)}`;
}
