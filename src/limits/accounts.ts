// What accounts have in use, and what claims take of it and give back: a record of numbers for each
// account, and one for each model that it uses. Nothing here decides: limits.ts does, and calls all of
// this inside its lock. A record is forgotten only when nothing in it counts any more, or the books
// have it. A thread that is terminated between two writes leaves one request counted at most.

import { CONCURRENCY_RETRY_SECONDS } from '../core/admit.ts';
import type { IncidentLimits, Plan } from '../core/plan.ts';
import {
  createWindow,
  giveBack,
  type RateWindow,
  resetSeconds,
  resumeWindow,
  takeFrom,
  WINDOW_MS,
} from '../core/window.ts';
import type { Past } from './admission-history.ts';
import type { LimitUsage } from './contract.ts';
import {
  type CountedPeriod,
  createPeriodCounters,
  PERIOD_FIELDS,
  PERIODS_KEPT,
  type Periods,
} from './periods.ts';
import type { Scope } from './scope.ts';
import { createKeys, createTable, FIRST_FIELD, type TableMemory } from './table.ts';

/** Fields. A window has three: its start, its requests and its tokens. */
const WINDOW = FIRST_FIELD;
const KEPT_UNTIL = WINDOW + 3;
/** Of accounts alone: the request window of count_tokens, days and months. */
const COUNT_WINDOW = KEPT_UNTIL + 1;
const PERIODS = COUNT_WINDOW + 3;

/** Cells: open claims, slots, and of accounts what is reserved of each day and month. */
const [OPEN, SLOTS, RESERVED] = [0, 1, 2];

export const RECORD = {
  fields: PERIODS + PERIODS_KEPT * PERIOD_FIELDS,
  cells: RESERVED + PERIODS_KEPT,
};

/** How long a record is kept after its last use: windows are over, and the books have it all. */
const KEEP_MS = WINDOW_MS;

/** The records of an account and of one of its models, or their keys. */
type Pair = readonly [account: number, model: number];

/** What a request was given, and where. */
export type Taken = {
  readonly keys: Pair;
  readonly tokens: number;
  /** When the windows started in which it is counted. */
  readonly startedAt: readonly (number | undefined)[];
  readonly periods: readonly CountedPeriod[];
  isOpen: boolean;
  hasSlot: boolean;
};

/** `pastOf` is what an account had admitted before these limits began. */
export function createAccounts(
  memory: TableMemory,
  thread: number,
  pastOf: (accountId: string, nowMs: number) => Past,
) {
  const table = createTable(
    memory,
    thread,
    (record, nowMs): boolean =>
      table.sum(record, OPEN) === 0 && table.get(record + KEPT_UNTIL) <= nowMs,
  );
  const { get, set, addOwn } = table;
  const periods = createPeriodCounters(table, PERIODS, RESERVED);
  const keyOf = createKeys();

  const keep = (record: number, nowMs: number): void => set(record + KEPT_UNTIL, nowMs + KEEP_MS);

  /** A record, kept from now on; a new one knows what had been admitted. 0: there is no room. */
  function recordOf(key: number, nowMs: number, past: Past, limits: IncidentLimits): number {
    const window = (record: number): void =>
      writeWindow(record + WINDOW, resumeWindow(past, limits));
    const record = table.find(key) || table.add(key, nowMs, window);
    if (record !== 0) keep(record, nowMs);
    return record;
  }

  function readWindow(at: number, nowMs: number): RateWindow {
    const startedAt = get(at);
    const requests = get(at + 1);
    if (requests === 0 || nowMs - startedAt >= WINDOW_MS) return createWindow();
    return { startedAt, requests, tokens: get(at + 2) };
  }

  const windowOf = (record: number, nowMs: number): RateWindow =>
    readWindow(record + WINDOW, nowMs);

  /** The start comes last: until then, new counts are those of a window that is over. */
  function writeWindow(at: number, { startedAt = 0, requests, tokens }: RateWindow): void {
    set(at + 1, requests);
    set(at + 2, tokens);
    set(at, startedAt);
  }

  /** Those of a claim that was lost may be gone. */
  const recordsOf = ({ keys: [account, model] }: Taken): Pair => [
    table.find(account),
    table.find(model),
  ];

  function freeSlot(taken: Taken, records: Pair): void {
    if (!taken.hasSlot) return;
    taken.hasSlot = false;
    for (const record of records) addOwn(record, SLOTS, -1);
  }

  return {
    periods,
    /** What is counted of a plan or of a model, of which there may be no record. */
    windowOf,
    /** What is used of it, its limits included. */
    scope: (record: number, limits: IncidentLimits, nowMs: number): Scope => ({
      window: windowOf(record, nowMs),
      slotsUsed: table.sum(record, SLOTS),
      limits,
    }),
    find(accountId: string, plan: Plan, nowMs: number): number {
      const key = keyOf(accountId);
      if (table.find(key) !== 0) return recordOf(key, nowMs, [], plan);
      const past = pastOf(accountId, nowMs);
      for (const [model, ofModel] of Map.groupBy(past, (each) => each.model)) {
        if (recordOf(key + keyOf(model), nowMs, ofModel, {}) === 0) return 0;
      }
      return recordOf(key, nowMs, past, plan);
    },
    /** Of every model that is used, with limits or without: they are set while requests run. */
    findModel: (accountId: string, model: string, nowMs: number): number =>
      recordOf(keyOf(accountId) + keyOf(model), nowMs, [], {}),
    usage(account: number, [day, month]: Periods, nowMs: number): LimitUsage {
      const window = readWindow(account + WINDOW, nowMs);
      return {
        requestsUsed: window.requests,
        tokensUsed: window.tokens,
        resetSeconds: resetSeconds(window, nowMs),
        inFlight: table.sum(account, SLOTS),
        dayTokens: periods.used(account, day).tokens,
        monthTokens: periods.used(account, month).tokens,
      };
    },
    /** Counts a request without tokens. Answers how many seconds it has to wait where it is refused. */
    countRequest(
      account: number,
      kind: 'generate' | 'count',
      { requestsPerMinute }: Plan,
      nowMs: number,
    ): number | undefined {
      if (account === 0) return CONCURRENCY_RETRY_SECONDS;
      const at = account + (kind === 'count' ? COUNT_WINDOW : WINDOW);
      const window = readWindow(at, nowMs);
      if (window.requests >= requestsPerMinute) return resetSeconds(window, nowMs);
      takeFrom(window, 0, nowMs);
      writeWindow(at, window);
      return undefined;
    },
    /** Counts a request in the windows of its scopes, which change as well, and everywhere else. */
    take(
      records: Pair,
      scopes: readonly [Scope, Scope],
      of: Periods,
      tokens: number,
      nowMs: number,
    ): Taken {
      const [account, model] = records;
      const [ofPlan, ofModel] = [scopes[0].window, scopes[1].window];
      takeFrom(ofPlan, tokens, nowMs);
      takeFrom(ofModel, tokens, nowMs);
      for (const record of records) {
        addOwn(record, OPEN, 1);
        addOwn(record, SLOTS, 1);
      }
      writeWindow(account + WINDOW, ofPlan);
      writeWindow(model + WINDOW, ofModel);
      const counted = [periods.counted(account, of[0]), periods.counted(account, of[1])];
      for (const each of counted) periods.add(account, each, tokens, tokens);
      return {
        keys: [get(account), get(model)],
        tokens,
        startedAt: [ofPlan.startedAt, ofModel.startedAt],
        periods: counted,
        isOpen: true,
        hasSlot: true,
      };
    },
    freeSlot: (taken: Taken): void => freeSlot(taken, recordsOf(taken)),
    /** Lets go of a claim, and corrects the day and the month where it is known what was used. */
    end(taken: Taken, nowMs: number, usedTokens?: number): void {
      const { tokens, isOpen } = taken;
      const records = recordsOf(taken);
      const [account] = records;
      freeSlot(taken, records);
      taken.isOpen = false;
      const more = usedTokens === undefined ? 0 : usedTokens - tokens;
      if (account !== 0) {
        for (const each of taken.periods) periods.add(account, each, more, isOpen ? -tokens : 0);
        keep(account, nowMs);
      }
      if (isOpen) for (const record of records) addOwn(record, OPEN, -1);
    },
    /** Gives back what windows have counted that are still the same. */
    giveBack(taken: Taken, keeps: 'request' | undefined, nowMs: number): void {
      for (const [index, record] of recordsOf(taken).entries()) {
        const window = readWindow(record + WINDOW, nowMs);
        if (window.startedAt === undefined || window.startedAt !== taken.startedAt[index]) continue;
        giveBack(window, taken.tokens, keeps);
        writeWindow(record + WINDOW, window);
      }
    },
  };
}
