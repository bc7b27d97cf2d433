// One exchange with Redis about one account: reports what this holder keeps, requests what it needs
// and a little more, and applies the answer. State that Redis has lost is first restored from the
// ledger. leased.ts ensures that an account has one exchange at a time.

import type { Limits } from '../../core/plan.ts';
import { resumeWindow, WINDOW_MS } from '../../core/window.ts';
import type { LimitsDependencies } from '../contract.ts';
import { callOf, type LeaseRequest, periodNames, type SeedFacts } from './call.ts';
import { dropEnded } from './claims.ts';
import {
  type Counters,
  LAPSE_MS,
  modelName,
  type PeriodCounter,
  periodOf,
  slotsUsed,
  windowOf,
} from './counters.ts';
import type { Decide, Missing, ScriptCall, ScriptDecision, SeedWindow } from './script.ts';

export type ExchangeDependencies = SeedDependencies & {
  readonly decide: Decide;
  /** Identifies this holder; new at each start. */
  readonly holder: string;
  /** Replaces Redis's clock in tests. */
  readonly redisClock?: () => number;
};

/** Restoring state may reveal that more is missing. */
const CALLS_MAX = 5;

export function createExchange(dependencies: ExchangeDependencies) {
  const { decide, holder, monotonic, liveNodes, history, redisClock } = dependencies;
  let seq = 0;

  /**
   * Resolves once the answer is applied, to whether all needs are met; rejects without an answer.
   */
  return async (counters: Counters, asked: LeaseRequest): Promise<boolean> => {
    let seedFacts: SeedFacts = { marks: new Map() };
    for (let calls = 0; calls < CALLS_MAX; calls += 1) {
      seq += 1;
      const sentAtMs = monotonic();
      const changes = counters.changes;
      const call: ScriptCall = {
        ...callOf(counters, asked, seedFacts, sentAtMs),
        seq,
        holder,
        holders: Math.max(1, liveNodes()),
        ...(redisClock === undefined ? {} : { now: redisClock() }),
      };
      // Until the answer arrives, the state of earlier permits is unknown.
      withdrawUnused(counters);
      const reply = await decide(counters.accountId, call);
      if ('missing' in reply) {
        seedFacts = await lookUp(counters, asked, reply);
        continue;
      }
      takeUp(counters, call, reply, { sentAtMs, heardAtMs: monotonic() });
      counters.reported = changes;
      if (counters.changes === changes) {
        dropEnded(
          counters,
          asked.periods.map(({ name }) => name),
        );
      }
      return reply.fits;
    }
    throw new Error(
      'Redis lost its state again during one exchange. Check that it does not evict keys.',
    );
  };

  async function lookUp(
    counters: Counters,
    asked: LeaseRequest,
    reply: Missing,
  ): Promise<SeedFacts> {
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

/** From a new mark on, only open requests count here: the ledger has the rest. */
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

function withdrawUnused(counters: Counters): void {
  for (const window of counters.windows.values()) window.given = [window.count, window.tokens];
  for (const slot of counters.slots.values()) slot.given = slotsUsed(counters, slot.name);
  for (const period of counters.periods.values()) period.given = period.used;
  counters.taken = { count: 0, tokens: 0 };
}

type Times = { readonly sentAtMs: number; readonly heardAtMs: number };

function takeUp(
  counters: Counters,
  call: ScriptCall,
  reply: ScriptDecision,
  { sentAtMs, heardAtMs }: Times,
): void {
  for (const [index, asked] of call.windows.entries()) {
    const [start, leftMs, othersCount, othersTokens, count, tokens, over, ...spare] =
      reply.windows[index] ?? NOTHING;
    if (over === 1 || start === 0) counters.windows.delete(asked.name);
    if (start === 0) continue;
    const window = windowOf(counters, asked.name);
    counters.windows.set(asked.name, window);
    window.start = start;
    window.startedAtMs = sentAtMs + leftMs - WINDOW_MS;
    window.endsAtMs = heardAtMs + leftMs;
    window.others = [othersCount, othersTokens];
    window.spare = spare;
    window.given = [count, tokens];
    window.limit = asked.limit;
  }
  for (const [index, asked] of call.slots.entries()) {
    const { name, limit } = asked;
    const [others, given, mayKeep, spare] = reply.slots[index] ?? NOTHING;
    if (given + others + slotsUsed(counters, name) === 0) counters.slots.delete(name);
    else counters.slots.set(name, { name, given, others, spare, limit, mayKeep: mayKeep === 1 });
  }
  for (const [index, asked] of call.periods.entries()) {
    const [, before, others, tokens, spare, reserved] = reply.periods[index] ?? NOTHING;
    const period = periodOf(counters, asked.name);
    counters.periods.set(asked.name, period);
    if (before >= 0) period.before = before;
    period.others = others;
    period.spare = spare;
    period.reserved = reserved;
    period.given = tokens;
    period.limit = asked.limit;
  }
  counters.epoch = reply.epoch;
  counters.knownAtMs = sentAtMs;
}

const NOTHING = [0, 0, 0, 0, 0, 0, 0, 0, 0] as const;

type SeedDependencies = Pick<LimitsDependencies, 'clock' | 'monotonic' | 'history'> & {
  /** The number of nodes that lease, at least 1: each has its share while Redis is away. */
  readonly liveNodes: () => number;
  /** Real time, except in tests. */
  readonly sleep: (ms: number) => Promise<unknown>;
};

/**
 * All admissions of the last minute. Other live nodes may still use permits of a Redis that lost
 * its state, so no request is decided before those have expired.
 */
async function seedOf(
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
  // They include this holder's own admissions.
  counters.windows.clear();
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
