// One exchange with Redis about one account: says what this holder keeps, asks for what a request
// needs and a little more, and takes the answer up. What Redis does not know it is told from the
// books first. leased.ts sees to it that an account has one exchange at a time.

import type { Span } from '../../core/calendar.ts';
import type { Limits, Plan } from '../../core/plan.ts';
import { resumeWindow, WINDOW_MS } from '../../core/window.ts';
import type { AdmissionHistory } from '../contract.ts';
import {
  type Counters,
  LAPSE_MS,
  modelName,
  type Need,
  type PeriodCounter,
  periodOf,
  slotsOf,
  slotsUsed,
  type WindowCounter,
  windowOf,
} from './counters.ts';
import {
  type Call,
  type Decide,
  type Decided,
  type Missing,
  type Pair,
  type PeriodAsked,
  type SeedWindow,
  type SlotsAsked,
  UNLIMITED,
  type WindowAsked,
} from './script.ts';

export type ExchangeDependencies = {
  readonly decide: Decide;
  /** Names this holder among all, and is new with each start. */
  readonly holder: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly liveNodes: () => number;
  readonly history: AdmissionHistory;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** In the place of the clock of Redis, in tests. */
  readonly redisClock?: () => number;
};

export type Asked = {
  /** The plan that holds, where it is known: by it a window of the books is measured. */
  readonly plan?: Plan;
  /** Absent where only the present state is told and asked for. */
  readonly need?: Need;
  /** How many more like it wait. */
  readonly waiting?: Pair;
  /** The periods that have to be known. */
  readonly periods: readonly PeriodAskedFor[];
};

export type PeriodAskedFor = {
  readonly name: string;
  readonly span: Span;
  /** Whether what the books have of it counts too. */
  readonly counts: boolean;
};

/** Telling Redis what it misses may show that more is missing. */
const CALLS_MAX = 5;

export function createExchange(dependencies: ExchangeDependencies) {
  const { decide, holder, monotonic, liveNodes, history, redisClock } = dependencies;
  let seq = 0;

  /** Resolves when the answer is taken up; rejects where there is none. */
  return async (counters: Counters, asked: Asked): Promise<void> => {
    let told: Told = { marks: new Map() };
    for (let calls = 0; calls < CALLS_MAX; calls += 1) {
      seq += 1;
      const sentAtMs = monotonic();
      const changes = counters.changes;
      const call: Call = {
        ...callOf(counters, asked, told, sentAtMs),
        seq,
        holder,
        nodes: Math.max(1, liveNodes()),
        ...(redisClock === undefined ? {} : { now: redisClock() }),
      };
      // Until the answer is here, nobody knows what became of that which was given before.
      withdrawUnused(counters);
      const reply = await decide(counters.accountId, call);
      if ('missing' in reply) {
        told = await lookUp(counters, asked, reply);
        continue;
      }
      takeUp(counters, call, reply, sentAtMs);
      counters.told = changes;
      return;
    }
    throw new Error('Redis forgets what it is told.');
  };

  async function lookUp(counters: Counters, asked: Asked, reply: Missing): Promise<Told> {
    const marks = new Map<string, number>();
    for (const [index, name] of periodNames(counters, asked).entries()) {
      const period = periodOf(counters, name);
      const known = reply.marks[index] ?? -1;
      if (known < 0) {
        const mark = await history.mark();
        marks.set(name, mark);
        countFrom(counters, period, mark);
      } else if (period.mark !== known) {
        if (period.mark === undefined) period.used += reply.owns[index] ?? 0;
        countFrom(counters, period, known);
      }
      counters.periods.set(name, period);
      const wanted = asked.periods.find((each) => each.name === name);
      if (wanted === undefined || !wanted.counts || period.before !== undefined) continue;
      const { accountId } = counters;
      period.before = await history.usedBefore(accountId, wanted.span, period.mark ?? 0);
    }
    if (!reply.missing.includes('account')) return { marks };
    return { marks, seed: await seedOf(dependencies, counters, asked.plan ?? {}) };
  }
}

/** What the books were asked for. */
type Told = { readonly marks: ReadonlyMap<string, number>; readonly seed?: readonly SeedWindow[] };

/**
 * What was admitted within the last minute, by all. Where others live they may still use what they
 * were given by a Redis that has forgotten it: nobody decides before that has lapsed.
 */
async function seedOf(
  { history, clock, monotonic, liveNodes, sleep }: ExchangeDependencies,
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

/** From another mark on, what counts here is what is open: the books have the rest. */
function countFrom(counters: Counters, period: PeriodCounter, mark: number): void {
  if (period.mark !== undefined) {
    period.used = 0;
    for (const claim of counters.claims) {
      if (claim.periods.includes(period)) period.used += claim.tokens;
    }
    counters.changes += 1;
  }
  period.mark = mark;
  period.before = undefined;
}

/** Those that are asked for, and all others that something was taken from. */
function periodNames({ periods }: Counters, { periods: asked }: Asked): readonly string[] {
  return [...new Set([...asked.map(({ name }) => name), ...periods.keys()])];
}

function callOf(
  counters: Counters,
  asked: Asked,
  { marks, seed }: Told,
  nowMs: number,
): Omit<Call, 'seq' | 'holder' | 'nodes' | 'now'> {
  const { need } = asked;
  const wish = wishOf(counters, asked, nowMs);
  const names = (held: Iterable<string>, needed: readonly { readonly name: string }[] = []) => [
    ...new Set([...held, ...needed.map(({ name }) => name)]),
  ];
  const windows = names(counters.windows.keys(), need?.windows).map((name): WindowAsked => {
    const window = windowOf(counters, name);
    const needed = need?.windows.find((each) => each.name === name);
    const limit = needed?.limit ?? window.limit;
    return {
      name,
      start: window.start,
      age: Math.max(0, Math.floor(nowMs - (window.startedAtMs ?? nowMs))),
      latest: Math.max(0, Math.floor(nowMs - (window.takenAtMs ?? nowMs))),
      keep: [window.count, window.tokens],
      need: needed === undefined || need === undefined ? [0, 0] : need.take,
      wish: [limit[0] === UNLIMITED ? 0 : wish[0], limit[1] === UNLIMITED ? 0 : wish[1]],
      limit,
    };
  });
  const slots = names(counters.slots.keys(), need?.slots).map((name): SlotsAsked => {
    const needed = need?.slots.find((each) => each.name === name);
    const limit = needed?.limit ?? slotsOf(counters, name).limit;
    return {
      name,
      keep: slotsUsed(counters, name),
      need: needed === undefined || need === undefined ? 0 : need.take[0],
      wish: limit === UNLIMITED ? 0 : wish[0],
      limit,
    };
  });
  const periods = periodNames(counters, asked).map((name): PeriodAsked => {
    const period = periodOf(counters, name);
    const needed = need?.periods.find((each) => each.name === name);
    const limit = needed?.limit ?? period.limit;
    return {
      name,
      known: period.mark ?? -1,
      mark: marks.get(name) ?? -1,
      before: period.before ?? -1,
      counts: asked.periods.some((each) => each.name === name && each.counts),
      keep: period.used,
      need: needed === undefined || need === undefined ? 0 : need.take[1],
      wish: limit === UNLIMITED ? 0 : wish[1],
      limit,
    };
  });
  return {
    epoch: counters.epoch,
    windows,
    slots,
    periods,
    ...(seed === undefined ? {} : { seed }),
  };
}

/** As much again as was taken since the last call, twice over, and what waits; nothing after a rest. */
function wishOf({ taken, knownAtMs }: Counters, { waiting = [0, 0] }: Asked, nowMs: number): Pair {
  const factor = nowMs - knownAtMs < LAPSE_MS ? 2 : 0;
  return [waiting[0] + factor * taken.count, waiting[1] + factor * taken.tokens];
}

function withdrawUnused(counters: Counters): void {
  for (const window of counters.windows.values()) window.given = [window.count, window.tokens];
  for (const slot of counters.slots.values()) slot.given = slotsUsed(counters, slot.name);
  for (const period of counters.periods.values()) period.given = period.used;
  counters.taken = { count: 0, tokens: 0 };
}

function takeUp(counters: Counters, call: Call, reply: Decided, sentAtMs: number): void {
  for (const [index, asked] of call.windows.entries()) {
    const [start, leftMs, othersCount, othersTokens, count, tokens, over] =
      reply.windows[index] ?? NOTHING;
    if (over === 1 || start === 0) counters.windows.delete(asked.name);
    if (start === 0) continue;
    const window: WindowCounter = windowOf(counters, asked.name);
    counters.windows.set(asked.name, window);
    window.start = start;
    window.startedAtMs = sentAtMs + leftMs - WINDOW_MS;
    window.others = [othersCount, othersTokens];
    window.given = [count, tokens];
    window.limit = asked.limit;
  }
  for (const [index, asked] of call.slots.entries()) {
    const [others, given] = reply.slots[index] ?? [0, 0];
    const used = slotsUsed(counters, asked.name);
    if (given + others + used === 0) counters.slots.delete(asked.name);
    else counters.slots.set(asked.name, { name: asked.name, given, others, limit: asked.limit });
  }
  for (const [index, asked] of call.periods.entries()) {
    const [, before, others, tokens] = reply.periods[index] ?? NOTHING;
    const period = periodOf(counters, asked.name);
    counters.periods.set(asked.name, period);
    if (before >= 0) period.before = before;
    period.others = others;
    period.given = tokens;
    period.limit = asked.limit;
  }
  counters.epoch = reply.epoch;
  counters.knownAtMs = sentAtMs;
}

const NOTHING = [0, 0, 0, 0, 0, 0, 0] as const;
