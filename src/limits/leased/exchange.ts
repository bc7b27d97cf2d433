// One exchange with Redis about one account: reports what this holder uses, requests what it needs
// and a little more, and applies the answer. State that Redis has lost is first restored from the
// ledger. leased.ts ensures that an account has one exchange at a time.

import type { Plan } from '../../core/plan.ts';
import { resumeWindow, WINDOW_MS } from '../../core/window.ts';
import type { LimitsDependencies } from '../contract.ts';
import {
  type Counter,
  type CounterLimit,
  type Counters,
  counterOf,
  dropEnded,
  LAPSE_MS,
  modelWindow,
  type Need,
  plus,
} from './counters.ts';
import {
  type CounterAsked,
  type Decide,
  type Missing,
  type Pair,
  type ScriptCall,
  type ScriptDecision,
  type SeedWindow,
  UNLIMITED,
} from './script.ts';

export type LeaseRequest = Need & {
  /** The active plan, if known. It bounds a window rebuilt from the ledger. */
  readonly plan?: Plan;
  /** What similar requests that wait would take. */
  readonly waiting?: Pair;
  /** Keeps nothing unused, because others want it. */
  readonly returns?: true;
};

export type ExchangeDependencies = Pick<LimitsDependencies, 'clock' | 'monotonic' | 'history'> & {
  readonly decide: Decide;
  /** Identifies this holder; new at each start. */
  readonly holder: string;
  /** The number of nodes that lease, at least 1: each has its share while Redis is away. */
  readonly liveNodes: () => number;
  /** Real time, except in tests. */
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Replaces Redis's clock in tests. */
  readonly redisClock?: () => number;
};

/** Restoring state may reveal that more is missing. */
const CALLS_MAX = 5;

/** An account counts as busy for this long after a request. */
const BUSY_MS = 250;

export function createExchange(dependencies: ExchangeDependencies) {
  const { decide, holder, monotonic, liveNodes, history, redisClock } = dependencies;
  let seq = 0;

  /**
   * Resolves once the answer is applied, to whether all needs are met; rejects without an answer.
   */
  return async (counters: Counters, asked: LeaseRequest): Promise<boolean> => {
    let seed: readonly SeedWindow[] | undefined;
    for (let calls = 0; calls < CALLS_MAX; calls += 1) {
      seq += 1;
      const sentAtMs = monotonic();
      const { changes, epoch } = counters;
      const call: ScriptCall = {
        seq,
        holder,
        holders: Math.max(1, liveNodes()),
        epoch,
        ...(redisClock === undefined ? {} : { now: redisClock() }),
        ...(seed === undefined ? {} : { seed }),
        ...(asked.returns === undefined ? {} : { returns: asked.returns }),
        counters: countersOf(counters, asked, calls > 0, sentAtMs),
      };
      // Until the answer arrives, the state of earlier permits is unknown.
      for (const counter of counters.all.values()) counter.given = counter.used;
      counters.taken = [0, 0];
      const reply = await decide(counters.accountId, call);
      if ('late' in reply) throw new Error('Redis has answered a newer call of this node.');
      if ('missing' in reply) {
        await lookUp(counters, asked, call, reply);
        const isLost = reply.missing === 'account';
        seed = isLost ? await seedOf(dependencies, counters, asked.plan) : undefined;
        continue;
      }
      takeUp(counters, call, reply, { sentAtMs, heardAtMs: monotonic() });
      counters.reported = changes;
      if (counters.changes === changes) dropEnded(counters, asked.counters);
      return reply.fits;
    }
    throw new Error(
      'Redis lost its state again during one exchange. Check that it does not evict keys.',
    );
  };

  /** Reads the mark of each period, and the usage at it where that is needed. */
  async function lookUp(
    counters: Counters,
    asked: LeaseRequest,
    call: ScriptCall,
    { marks, owns }: Missing,
  ): Promise<void> {
    for (const [index, { kind, name }] of call.counters.entries()) {
      if (kind !== 'period') continue;
      const period = counterOf(counters, { name, kind });
      counters.all.set(name, period);
      const known = marks[index] ?? -1;
      const mark = known < 0 ? await history.mark() : known;
      countFrom(period, mark, owns[index] ?? 0);
      counters.changes += 1;
      const { span, counts } = asked.counters.find((each) => each.name === name) ?? {};
      if (span === undefined || counts !== true) continue;
      if (period.before >= 0) continue;
      period.before = await history.usedBefore(counters.accountId, span, mark);
    }
  }
}

/** From a new mark on, only open requests count here: the ledger has the rest. */
function countFrom(period: Counter, mark: number, own: number): void {
  if (period.from < 0) period.used = plus(period.used, [0, own]);
  else if (period.from !== mark) period.used = [0, period.reserved];
  if (period.from !== mark) period.before = -1;
  period.from = mark;
}

/** What is requested, and all else with local usage. */
function countersOf(
  counters: Counters,
  asked: LeaseRequest,
  isLookedUp: boolean,
  nowMs: number,
): CounterAsked[] {
  const wish = wishOf(counters, asked, nowMs);
  const limits = new Map<string, CounterLimit>(counters.all);
  for (const limit of asked.counters) limits.set(limit.name, limit);
  const ageOf = (atMs = nowMs): number => Math.max(0, Math.floor(nowMs - atMs));
  return [...limits.values()].map((limited): CounterAsked => {
    const { name, kind, limit, counts = false } = limited;
    const counter = counterOf(counters, limited);
    const { from, used, reserved, before, startedAtMs, takenAtMs } = counter;
    return {
      name,
      kind,
      from,
      used,
      reserved,
      limit,
      counts,
      age: ageOf(startedAtMs),
      latest: ageOf(takenAtMs),
      take: limited === counter ? [0, 0] : asked.take,
      wish: [limit[0] === UNLIMITED ? 0 : wish[0], limit[1] === UNLIMITED ? 0 : wish[1]],
      mark: isLookedUp ? from : -1,
      before,
    };
  });
}

/**
 * Requests twice what was taken since the last call, plus what waits. Requests nothing after an
 * idle period, since unused permits are returned within a second.
 */
function wishOf(
  { all, taken, knownAtMs }: Counters,
  { take, waiting = [0, 0], returns }: LeaseRequest,
  nowMs: number,
): Pair {
  const takenAtMs = Math.max(...all.values().map((each) => each.takenAtMs ?? -Infinity));
  // With no waiting request, only back-to-back requests justify more permits.
  const pauseMs = take[0] === 0 ? BUSY_MS : LAPSE_MS;
  const isBusy = nowMs - knownAtMs < LAPSE_MS && nowMs - takenAtMs < pauseMs && !returns;
  return isBusy ? plus(waiting, plus(taken, taken)) : waiting;
}

type Times = { readonly sentAtMs: number; readonly heardAtMs: number };

function takeUp(
  counters: Counters,
  call: ScriptCall,
  reply: ScriptDecision,
  { sentAtMs, heardAtMs }: Times,
): void {
  for (const [index, asked] of call.counters.entries()) {
    const answer = reply.counters[index];
    if (answer === undefined) continue;
    const { leftMs, isOver, ...granted } = answer;
    const { from, given, others } = granted;
    const { name, kind, limit } = asked;
    if (isOver || (kind === 'window' && from === 0)) counters.all.delete(name);
    const counter = counterOf(counters, asked);
    counters.all.set(name, counter);
    Object.assign(counter, granted, { limit });
    if (kind === 'window') {
      counter.startedAtMs = sentAtMs + leftMs - WINDOW_MS;
      counter.endsAtMs = heardAtMs + leftMs;
    }
    const isEmpty = kind === 'window' ? from === 0 : given[0] + others[0] + counter.used[0] === 0;
    if (isEmpty && kind !== 'period') counters.all.delete(name);
  }
  counters.epoch = reply.epoch;
  counters.isScarce = reply.isScarce;
  counters.knownAtMs = sentAtMs;
}

/**
 * All admissions of the last minute. Other live nodes may still use permits of a Redis that lost
 * its state, so no request is decided before those have expired.
 */
async function seedOf(
  { history, clock, monotonic, liveNodes, sleep }: ExchangeDependencies,
  { accountId, all }: Counters,
  plan: Partial<Plan> = {},
): Promise<SeedWindow[]> {
  const startedAtMs = all.get('plan')?.startedAtMs;
  const lastMinute = async () => {
    const timeMs = clock();
    const since = await history.admittedSince(timeMs - WINDOW_MS + 1, accountId);
    return since
      .filter((each) => each.accountId === accountId)
      .map((each) => ({ ...each, atMs: Math.min(0, each.startedAt - timeMs) }));
  };
  let past = await lastMinute();
  if (past.length > 0 && liveNodes() > 1) {
    await sleep(LAPSE_MS);
    past = await lastMinute();
  }
  const models = [...Map.groupBy(past, ({ model }) => model)].map(
    ([model, admitted]) => [modelWindow(model), resumeWindow(admitted, {})] as const,
  );
  // They include this holder's own admissions.
  for (const { name, kind } of all.values()) if (kind === 'window') all.delete(name);
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
