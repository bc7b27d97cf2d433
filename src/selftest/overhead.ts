// Measures what the gateway adds beside a bare forwarder of the same executable: latency of one
// client, and answers a second of many. Load, upstream and gateway share the machine, so only the
// comparison of the two means something.

import { ask, type Caller } from './answer.ts';
import type { Check } from './check.ts';
import { FAST_MODEL } from './upstream.ts';

/** In turn, so that other programs disturb all alike. */
const ROUNDS = 5;
const ANSWERS = 60;
const CLIENTS = 32;
const WINDOW_MS = 1_200;

/** A gateway that adds more has something wrong on a machine that is otherwise idle. */
const ADDED_MS_MAX = 25;

export type Overhead = {
  /** Milliseconds at p50 and p99: the upstream alone, behind the forwarder, behind the gateway. */
  readonly p50Ms: Subjects;
  readonly p99Ms: Subjects;
  readonly perSecond: Subjects;
};

export type Subjects = {
  readonly direct: number;
  readonly forwarder: number;
  readonly gateway: number;
};

type Callers = { readonly [Subject in keyof Subjects]: Caller };

export async function measureOverhead(callers: Callers): Promise<Overhead> {
  const names = ['direct', 'forwarder', 'gateway'] as const;
  const times = { direct: [] as number[], forwarder: [] as number[], gateway: [] as number[] };
  const rates = { direct: [] as number[], forwarder: [] as number[], gateway: [] as number[] };
  for (const name of names) await answersFor(callers[name], WINDOW_MS, CLIENTS);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) {
      for (let count = 0; count < ANSWERS; count += 1) times[name].push(await timed(callers[name]));
    }
    for (const name of names) {
      const answers = await answersFor(callers[name], WINDOW_MS, CLIENTS);
      rates[name].push(answers / (WINDOW_MS / 1_000));
    }
  }
  const each = (read: (name: keyof Subjects) => number): Subjects => ({
    direct: read('direct'),
    forwarder: read('forwarder'),
    gateway: read('gateway'),
  });
  return {
    p50Ms: each((name) => quantile(times[name], 0.5)),
    p99Ms: each((name) => quantile(times[name], 0.99)),
    perSecond: each((name) => quantile(rates[name], 0.5)),
  };
}

export function checkOverhead({ p50Ms, perSecond }: Overhead): readonly Check[] {
  const added = p50Ms.gateway - p50Ms.forwarder;
  const share = perSecond.gateway / perSecond.forwarder;
  return [
    {
      name: 'added latency',
      ok: added < ADDED_MS_MAX,
      detail: `${added.toFixed(2)} ms at p50 beside a bare forwarder (${p50Ms.gateway.toFixed(2)} and ${p50Ms.forwarder.toFixed(2)} ms), with money on disk`,
    },
    {
      name: 'throughput',
      ok: share > 0,
      detail: `${perSecond.gateway.toFixed(0)} answers/s with ${CLIENTS} clients, ${share.toFixed(2)} of the forwarder's ${perSecond.forwarder.toFixed(0)}`,
    },
  ];
}

async function timed(caller: Caller): Promise<number> {
  const startedAt = performance.now();
  await answered(caller);
  return performance.now() - startedAt;
}

async function answersFor(caller: Caller, windowMs: number, clients: number): Promise<number> {
  const until = performance.now() + windowMs;
  let answers = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      await answered(caller);
      answers += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return answers;
}

async function answered(caller: Caller): Promise<void> {
  const { status } = await ask(caller, { format: 'chat', stream: true, model: FAST_MODEL });
  if (status !== 200) throw new Error(`an answer has the status ${status}`);
}

function quantile(values: readonly number[], of: number): number {
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.floor((ascending.length - 1) * of)] ?? Number.NaN;
}
