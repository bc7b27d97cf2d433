// The limits that threads share, with one thread waiting for the books while another does all that it
// has to do, and with a thread that is terminated between any two writes to the memory.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { tokenCount } from '../../src/core/money.ts';
import type { Plan } from '../../src/core/plan.ts';
import type { AccountLimits, Claim, ClaimRequest } from '../../src/limits/contract.ts';
import { createLimits } from '../../src/limits/limits.ts';
import { createLimitMemory, type LimitMemory, releaseThread } from '../../src/limits/threads.ts';
import { PLAN } from './world.ts';

const ACCOUNTS = ['acct_0', 'acct_1', 'acct_2', 'acct_3', 'acct_4'];
/** Too few records for all accounts and their models: they go from one to the next. */
const CAPACITY = 8;

/** Each has one limit that two requests reach. */
const WIDE = { ...PLAN, requestsPerMinute: 99, concurrentRequests: 99, tokensPerMinute: 9_999 };
const PLANS = [
  { ...WIDE, requestsPerMinute: 2 },
  { ...WIDE, tokensPerMinute: 250 },
  { ...WIDE, concurrentRequests: 2 },
  { ...WIDE, dailyTokens: 250 },
  { ...WIDE, monthlyTokens: 250 },
];

type Deed = { readonly kind: 'claim' | 'settle' | 'cancel' | 'count'; readonly account: number };
/** What is done before: by which thread, and how long ago. */
type Turn = Deed & { readonly thread: number; readonly thenWaitMs: number };

const deed = {
  kind: fc.constantFrom('claim', 'claim', 'claim', 'settle', 'cancel', 'count'),
  account: fc.constantFrom(0, 0, 0, 1, 2, 3, 4),
} as const;
const turn: fc.Arbitrary<Turn> = fc.record({
  ...deed,
  thread: fc.nat(1),
  thenWaitMs: fc.constantFrom(0, 0, 0, 0, 61_000),
});
const turns = fc.array(turn, { maxLength: 6 });
/** Mostly for what is nearly used up. */
const racing: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ kind: 'claim', account: 0 } as const) },
  { weight: 1, arbitrary: fc.record(deed) },
);
const plan = fc.constantFrom(...PLANS);

/** More than anything takes that is done here. */
const STEPS = 500;

type Open = { readonly claim: Claim; readonly request: ClaimRequest; readonly atMs: number };

const [CHARGED, SETTLED] = [99, 50];

class Death extends Error {}

/** The memory as a thread has it, with a call before each of its writes. */
function watchWrites(memory: LimitMemory, onWrite: () => void): LimitMemory {
  const records = new Proxy(memory.table.records, {
    get: (target, name) => Reflect.get(target, name, target),
    set(target, name, value) {
      onWrite();
      return Reflect.set(target, name, value, target);
    },
  });
  return { ...memory, table: { ...memory.table, records } };
}

function createRace(plan: Plan) {
  const memory = createLimitMemory(2, CAPACITY);
  let nowMs = 0;
  let step = 0;
  let onStep: (step: number) => void = () => {};
  const open: Open[][] = [[], []];
  /** The account of each request that was settled. */
  const books: string[] = [];
  /** What was admitted and not cancelled: since when, and what it is charged. */
  const admitted: { accountId: string; atMs: number; day: number; thread: number }[] = [];
  const takeStep = (): void => {
    step += 1;
    onStep(step);
  };
  const threads: AccountLimits[] = [0, 1].map((thread) =>
    createLimits({
      shared: { memory: thread === 1 ? watchWrites(memory, takeStep) : memory, thread },
      clock: () => Date.UTC(2026, 10, 21) + nowMs,
      monotonic: () => nowMs,
      isLive: () => true,
      history: {
        admittedSince: () => [],
        async mark() {
          const mark = books.length;
          if (thread === 0) takeStep();
          return mark;
        },
        async usedBefore(accountId, _, mark) {
          if (thread === 0) takeStep();
          return books.slice(0, mark).filter((each) => each === accountId).length * SETTLED;
        },
      },
    }),
  );
  return {
    plan,
    memory,
    threads,
    open,
    admitted,
    now: () => nowMs,
    waitMs,
    doing,
    interrupt,
    requestOf,
  };

  function requestOf(accountId: string): ClaimRequest {
    const [requestId, model, startedAt] = ['req', 'm', Date.UTC(2026, 10, 21)];
    const tokens = { promptTokens: tokenCount(90), outputBound: tokenCount(9) };
    return { requestId, startedAt, accountId, model, plan, incident: undefined, ...tokens };
  }

  function waitMs(ms: number): void {
    nowMs += ms;
  }

  /** Calls back when thread 0 has asked the books, and before each write of thread 1. */
  function interrupt(callback: (step: number) => void): void {
    step = 0;
    onStep = callback;
  }

  async function doing(thread: number, { kind, account }: Deed): Promise<void> {
    const limits = threads[thread];
    const accountId = ACCOUNTS[account] ?? '';
    if (limits === undefined) return;
    if (kind === 'claim') {
      const request = {
        accountId,
        model: 'm',
        plan,
        requestId: 'req',
        incident: undefined,
      };
      const asked = {
        ...request,
        startedAt: Date.UTC(2026, 10, 21),
        promptTokens: tokenCount(90),
        outputBound: tokenCount(9),
      };
      const result = await limits.claim(asked);
      if (result.kind === 'refused') return;
      open[thread]?.push({ claim: result.claim, request: asked, atMs: nowMs });
      admitted.push({ accountId, atMs: nowMs, day: CHARGED, thread });
    } else if (kind === 'count') {
      await limits.claimCount(accountId, plan);
    } else {
      const ended = open[thread]?.shift();
      if (ended === undefined) return;
      const { accountId: of } = ended.request;
      const index = admitted.findIndex(
        (each) => each.accountId === of && each.atMs === ended.atMs && each.day === CHARGED,
      );
      const [own] = admitted.splice(index, 1);
      if (kind === 'cancel') await ended.claim.cancel();
      else {
        ended.claim.settle(SETTLED);
        books.push(of);
        if (own !== undefined) admitted.push({ ...own, day: SETTLED });
      }
    }
  }
}

type Race = ReturnType<typeof createRace>;

async function usageOf(race: Race, accountId: string) {
  const used = await race.threads[0]?.usage(accountId, race.plan);
  if (used === undefined) throw new Error('There is no thread.');
  return used;
}

/** What the threads have in use is what they were given, and never above the limit. */
async function compare(race: Race): Promise<void> {
  for (const accountId of ACCOUNTS) {
    const own = race.admitted.filter((each) => each.accountId === accountId);
    const isOpen = (each: Open) => each.request.accountId === accountId;
    const inFlight = race.open.flat().filter(isOpen).length;
    const inWindow = own.filter(({ atMs }) => race.now() - atMs < 60_000).length;
    const dayTokens = own.reduce((sum, { day }) => sum + day, 0);
    expect(await usageOf(race, accountId)).toEqual({
      requestsUsed: inWindow,
      tokensUsed: inWindow * CHARGED,
      resetSeconds: expect.any(Number),
      inFlight,
      dayTokens,
      monthTokens: dayTokens,
    });
    const { requestsPerMinute, tokensPerMinute, concurrentRequests } = race.plan;
    expect(inFlight).toBeLessThanOrEqual(concurrentRequests);
    expect(inWindow).toBeLessThanOrEqual(requestsPerMinute);
    expect(inWindow * CHARGED).toBeLessThanOrEqual(tokensPerMinute);
    expect(dayTokens).toBeLessThanOrEqual(race.plan.dailyTokens ?? Infinity);
    expect(dayTokens).toBeLessThanOrEqual(race.plan.monthlyTokens ?? Infinity);
  }
}

async function raceAfter(plan: Plan, before: readonly Turn[]): Promise<Race> {
  const race = createRace(plan);
  for (const { thread, thenWaitMs, ...own } of before) {
    await race.doing(thread, own);
    race.waitMs(thenWaitMs);
  }
  return race;
}

test('what one thread does while another one asks the books changes no count', async () => {
  let intruded = 0;
  await fc.assert(
    fc.asyncProperty(plan, turns, racing, racing, async (limits, ...given) => {
      const [before, own, other] = given;
      for (let at = 1; at < STEPS; at += 1) {
        const race = await raceAfter(limits, before);
        let under: Promise<void> | undefined;
        race.interrupt((step) => {
          if (step === at) under = race.doing(1, other);
        });
        await race.doing(0, own);
        race.interrupt(() => {});
        await under;
        await compare(race);
        if (under === undefined) break;
        intruded += 1;
      }
    }),
    { numRuns: 2_000 },
  );
  expect(intruded).toBeGreaterThan(1_500);
}, 30_000);

test('a thread that dies at any step leaves no slot, no lock, and at most itself in a window', async () => {
  let deaths = 0;
  await fc.assert(
    fc.asyncProperty(plan, turns, racing, async (limits, before, dying) => {
      for (let last = 1; last < STEPS; last += 1) {
        const race = await raceAfter(limits, before);
        race.interrupt((step) => {
          if (step >= last) throw new Death();
        });
        const died = await race.doing(1, dying).then(
          () => false,
          (error: unknown) => error instanceof Death,
        );
        race.interrupt(() => {});
        if (!died) break;
        deaths += 1;
        // A thread that is terminated frees nothing.
        Atomics.store(race.memory.lock, 0, 2);
        releaseThread(race.memory, 1);
        await compareAfterDeath(race);
      }
    }),
    { numRuns: 150 },
  );
  expect(deaths).toBeGreaterThan(3_000);
}, 30_000);

/** Thread 1 is dead; what it had admitted counts in its windows and caps all the same. */
async function compareAfterDeath(race: Race): Promise<void> {
  const [survivors = []] = race.open;
  for (const accountId of ACCOUNTS) {
    const used = await usageOf(race, accountId);
    const isOpen = (each: Open) => each.request.accountId === accountId;
    expect(used.inFlight).toBe(survivors.filter(isOpen).length);
    expect(used.requestsUsed).toBeLessThanOrEqual(race.plan.requestsPerMinute);
    const inWindow = race.admitted.filter(
      (each) => each.accountId === accountId && race.now() - each.atMs < 60_000,
    );
    // The request that it died over, on its way in or out, is in the window or is not.
    expect(Math.abs(used.requestsUsed - inWindow.length)).toBeLessThanOrEqual(1);
  }
  race.waitMs(61_000);
  for (const each of survivors) each.claim.settle(1);
  race.waitMs(61_000);
  // Whatever it held or was making is there for others.
  const fresh = await race.threads[0]?.claim(race.requestOf('acct_fresh'));
  expect(fresh?.kind).toBe('claimed');
}
