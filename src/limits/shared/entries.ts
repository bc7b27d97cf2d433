// The entries of accounts and of their models as the limits use them: found by their names, made
// when they are first seen (out of what the books know of them), and kept while something counts.

import { yieldToEventLoop } from '../../async/yield.ts';
import type { Plan } from '../../core/plan.ts';
import { createWindow, resumeWindow, WINDOW_MS } from '../../core/window.ts';
import type { LimitsDependencies, LimitUsage } from '../contract.ts';
import { createPast, type Past } from '../past.ts';
import { COUNT_WINDOW, KEPT_UNTIL, type Memory, WINDOW } from './memory.ts';
import {
  clearPeriods,
  dayAt,
  isKnown,
  learnPeriod,
  monthAt,
  type SharedPeriod,
} from './periods.ts';
import { createTable, type EntryUse, type Key, type Table } from './table.ts';
import { ticksOf, windowIsRunning, writeWindow } from './windows.ts';

/** The entries of one claim, held for it. */
export type Held = { readonly account: number; readonly model: number };

export type Entries = {
  readonly accounts: Table;
  readonly models: Table;
  readonly holdAccount: (accountId: string) => number | undefined;
  readonly hold: (accountId: string, model: string) => Held | undefined;
  readonly release: (held: Held) => void;
  /** The day and month of an instant; undefined where the books have to be asked first. */
  readonly periods: (
    account: number,
    timeMs: number,
    caps: Pick<Plan, 'dailyTokens' | 'monthlyTokens'> | 'all',
  ) => [SharedPeriod, SharedPeriod] | undefined;
  /** Something was used or given back just now. */
  readonly keep: (account: number, nowTicks: number) => void;
  /**
   * Makes what a claim needs and asks the books for it; `used` for all of the day and month. Answers
   * `false` where there is no room.
   */
  readonly prepare: (
    accountId: string,
    plan: Plan,
    need?: { readonly timeMs: number; readonly model?: string; readonly used?: boolean },
  ) => Promise<boolean>;
  /** What an account has used for which there is no room: nothing but what the books have. */
  readonly usageOfUnknown: (accountId: string, timeMs: number) => Promise<LimitUsage>;
};

/** How long an account is kept after its last use: windows are over, and the books have it all. */
const KEEP_MS = WINDOW_MS;

/** Names whose keys are remembered. */
const KEYS_MAX = 50_000;

export function createEntries(
  dependencies: LimitsDependencies & { readonly memory: Memory; readonly thread: number },
): Entries {
  const { memory, thread, clock, monotonic, history } = dependencies;
  const accounts = createTable(memory, 'accounts', thread);
  const models = createTable(memory, 'models', thread);
  const past = createPast(history, clock, monotonic);
  const accountKey = rememberKeys(accounts);
  const modelKey = rememberKeys(models);
  const keyOfModel = (accountId: string, model: string): Key => modelKey(`${accountId}\n${model}`);

  const holdAccount = (accountId: string): number | undefined =>
    accounts.hold(accountKey(accountId));

  const keep = (account: number, nowTicks: number): void =>
    memory.store(account + KEPT_UNTIL, BigInt(nowTicks + KEEP_MS));

  function periods(
    account: number,
    timeMs: number,
    caps: Pick<Plan, 'dailyTokens' | 'monthlyTokens'> | 'all',
  ): [SharedPeriod, SharedPeriod] | undefined {
    const [day, month] = [dayAt(account, timeMs), monthAt(account, timeMs)];
    const known =
      isKnown(memory, day, caps === 'all' || caps.dailyTokens !== undefined) &&
      isKnown(memory, month, caps === 'all' || caps.monthlyTokens !== undefined);
    return known ? [day, month] : undefined;
  }

  /** `history` is what the account had admitted before this process. */
  function accountUse(own: Past, plan: Plan, nowTicks: number): EntryUse {
    return {
      isOver: (entry) =>
        memory.load(entry + KEPT_UNTIL) <= BigInt(nowTicks) &&
        !windowIsRunning(memory, entry + WINDOW, nowTicks) &&
        !windowIsRunning(memory, entry + COUNT_WINDOW, nowTicks),
      fill(entry) {
        writeWindow(memory, entry + WINDOW, resumeWindow(own, plan));
        writeWindow(memory, entry + COUNT_WINDOW, createWindow());
        clearPeriods(memory, entry);
        keep(entry, nowTicks);
      },
    };
  }

  function modelUse(own: Past, nowTicks: number): EntryUse {
    return {
      isOver: (entry) => !windowIsRunning(memory, entry + WINDOW, nowTicks),
      fill: (entry) => writeWindow(memory, entry + WINDOW, resumeWindow(own, {})),
    };
  }

  async function make(table: Table, key: Key, use: EntryUse): Promise<boolean> {
    for (;;) {
      const made = table.make(key, use);
      if (made !== 'busy') return made === 'made';
      await yieldToEventLoop();
    }
  }

  /** With the entries of all models that the account had used before, which count from now on. */
  async function makeAccount(accountId: string, plan: Plan): Promise<boolean> {
    const nowMs = monotonic();
    const nowTicks = ticksOf(nowMs);
    const own = past.of(accountId, nowMs).map((each) => ({ ...each, atMs: ticksOf(each.atMs) }));
    for (const [model, ofModel] of Map.groupBy(own, (each) => each.model)) {
      if (!(await make(models, keyOfModel(accountId, model), modelUse(ofModel, nowTicks)))) {
        return false;
      }
    }
    return make(accounts, accountKey(accountId), accountUse(own, plan, nowTicks));
  }

  return {
    accounts,
    models,
    holdAccount,
    hold(accountId, model) {
      const account = holdAccount(accountId);
      if (account === undefined) return undefined;
      const entry = models.hold(keyOfModel(accountId, model));
      if (entry !== undefined) return { account, model: entry };
      accounts.release(account);
      return undefined;
    },
    release({ account, model }) {
      models.release(model);
      accounts.release(account);
    },
    periods,
    keep,
    async prepare(accountId, plan, need) {
      await past.load();
      let account = holdAccount(accountId);
      if (account === undefined) {
        if (!(await makeAccount(accountId, plan))) return false;
        account = holdAccount(accountId);
        // Whoever has taken it already lets go of it soon.
        if (account === undefined) return true;
      }
      try {
        if (need === undefined) return true;
        const { timeMs, model, used = false } = need;
        const caps = [
          [dayAt(account, timeMs), plan.dailyTokens],
          [monthAt(account, timeMs), plan.monthlyTokens],
        ] as const;
        for (const [period, cap] of caps) {
          await learnPeriod(memory, accountId, period, history, used || cap !== undefined);
        }
        if (model === undefined) return true;
        const fresh = modelUse([], ticksOf(monotonic()));
        return await make(models, keyOfModel(accountId, model), fresh);
      } finally {
        accounts.release(account);
      }
    },
    async usageOfUnknown(accountId, timeMs) {
      const mark = await history.mark();
      const [day, month] = [dayAt(0, timeMs), monthAt(0, timeMs)];
      return {
        requestsUsed: 0,
        tokensUsed: 0,
        resetSeconds: WINDOW_MS / 1_000,
        inFlight: 0,
        dayTokens: await history.usedBefore(accountId, day.span, mark),
        monthTokens: await history.usedBefore(accountId, month.span, mark),
      };
    },
  };
}

function rememberKeys(table: Table): (name: string) => Key {
  const keys = new Map<string, Key>();
  return (name) => {
    let key = keys.get(name);
    if (key === undefined) {
      key = table.keyOf(name);
      if (keys.size >= KEYS_MAX) keys.clear();
      keys.set(name, key);
    }
    return key;
  };
}
