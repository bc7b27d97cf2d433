// How Redis handles a call about an account: decide.lua in TypeScript, so that a simulation needs
// no Redis and controls its clock. server.test.ts compares it with the script on a real one. Keys
// never expire here, because no simulation lasts an hour.

import type {
  CounterAsked,
  CounterReply,
  Missing,
  Pair,
  ScriptCall,
  ScriptReply,
} from '../../../src/limits/leased/script.ts';

const WINDOW_MS = 60_000;
const LEASE_MS = 30_000;
/** What a holder does not use it has returned after so long, or may not use any more. */
const LAPSE_MS = 1_000;
/** What was admitted is in the books after so long. */
const BOOKED_MS = 500;

/** What a holder has of a counter. */
type Held = {
  readonly from: number;
  readonly given: Pair;
  /** What others may have of it, if it is not used. */
  readonly spare: Pair;
  readonly reserved: number;
};

type Holder = {
  readonly seq: number;
  readonly ends: number;
  readonly held: ReadonlyMap<string, Held>;
};

type Account = {
  epoch: string | undefined;
  starts: Map<string, number>;
  readonly holders: Map<string, Holder>;
  /** The last reply to each holder. */
  readonly replies: Map<string, Reply>;
};

type Period = {
  mark: number | undefined;
  before: number | undefined;
  total: number;
  readonly used: Map<string, number>;
};

type Reply = ScriptReply & { readonly seq: number };

export type Counter = 'requests' | 'tokens' | 'slots' | 'day' | 'month';

export type Given = { readonly amount: number; readonly sinceMs: number };

export type Server = {
  /** `keys` are those of the account and of the periods that the call asks for. */
  readonly decide: (keys: readonly string[], call: ScriptCall) => Reply;
  /** What all holders have of a counter, and since when it counts by the server's clock. */
  readonly given: (counter: Counter) => Given;
  /** Forgets everything, as a server does that is started again. */
  readonly forget: () => void;
};

/** `clock` is the server's, in Unix milliseconds; `run` names the run of the server. */
export function createServer(clock: () => number, run = 'run'): Server {
  const accounts = new Map<string, Account>();
  const periods = new Map<string, Period>();
  return {
    decide([accountKey = '', ...periodKeys], call) {
      const now = call.now ?? Math.floor(clock());
      const account = found(accounts, accountKey, newAccount);
      const kept = periodKeys.map((key) => found(periods, key, newPeriod));
      return decide({ account, kept, call, now, run });
    },
    given(counter) {
      const amounts = [...accounts.values()].map((account) => givenOf(account, counter, clock()));
      // Keys of periods end in a day or a month.
      const length = { requests: 0, tokens: 0, slots: 0, day: 10, month: 7 }[counter];
      const totals = [...periods]
        .filter(([key]) => key.slice(key.lastIndexOf(':') + 1).length === length)
        .map(([, { total }]) => ({ amount: total, sinceMs: 0 }));
      return [...amounts, ...totals].reduce(
        (sum, { amount, sinceMs }) => ({
          amount: sum.amount + amount,
          sinceMs: Math.max(sum.sinceMs, sinceMs),
        }),
        { amount: 0, sinceMs: 0 },
      );
    },
    forget() {
      accounts.clear();
      periods.clear();
    },
  };
}

function givenOf({ starts, holders }: Account, counter: Counter, nowMs: number): Given {
  const all = [...holders.values()];
  if (counter === 'slots') {
    const living = all.filter(({ ends }) => ends > nowMs);
    return {
      amount: sumOf(living.map(({ held }) => held.get('slots')?.given[0] ?? 0)),
      sinceMs: 0,
    };
  }
  const sinceMs = starts.get('plan') ?? Infinity;
  if (counter === 'day' || counter === 'month' || nowMs - sinceMs >= WINDOW_MS) {
    return { amount: 0, sinceMs: 0 };
  }
  const amounts = all.map(({ held }) => {
    const window = held.get('plan');
    if (window?.from !== sinceMs) return 0;
    return window.given[counter === 'requests' ? 0 : 1];
  });
  return { amount: sumOf(amounts), sinceMs };
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const sum = (pairs: readonly Pair[]): Pair => [
  sumOf(pairs.map(([count]) => count)),
  sumOf(pairs.map(([, tokens]) => tokens)),
];

const newAccount = (): Account => ({
  epoch: undefined,
  starts: new Map(),
  holders: new Map(),
  replies: new Map(),
});
const newPeriod = (): Period => ({
  mark: undefined,
  before: undefined,
  total: 0,
  used: new Map(),
});

function found<T>(all: Map<string, T>, key: string, make: () => T): T {
  const value = all.get(key) ?? make();
  all.set(key, value);
  return value;
}

type Deciding = {
  readonly account: Account;
  readonly kept: readonly Period[];
  readonly call: ScriptCall;
  readonly now: number;
  readonly run: string;
};

function decide({ account, kept, call, now, run }: Deciding): Reply {
  const { seq, holder } = call;
  const last = account.epoch === undefined ? 0 : (account.holders.get(holder)?.seq ?? 0);
  if (last >= seq) {
    const answered = account.replies.get(holder);
    return last === seq && answered !== undefined ? answered : { seq, late: true };
  }
  let at = 0;
  const periods = call.counters.map((asked) => {
    if (asked.kind !== 'period') return undefined;
    at += 1;
    return lookedUp(asked, kept[at - 1] ?? newPeriod(), holder);
  });
  const missing = missingOf(account, call, periods);
  if (missing !== undefined) return { seq, ...missing };
  if (account.epoch === undefined) begin(account, call, now, run);
  for (const [name, start] of account.starts) {
    if (now - start >= WINDOW_MS) account.starts.delete(name);
  }

  const looks = call.counters.map((asked, index) =>
    look(account, call, asked, periods[index], now),
  );
  const fits = looks.every(
    ({ asked, left }) => asked.take[0] <= 0 || (left[0] >= 0 && left[1] >= 0),
  );
  const extra = (wish: number, left: number): number =>
    Math.max(0, Math.min(wish, Math.floor(left / (2 * call.holders))));
  const grants = looks.map((each) => {
    const { asked, from, used, left } = each;
    const isOpen = asked.kind !== 'window' || from > 0 || asked.take[0] > 0;
    const more: Pair =
      fits && isOpen ? [extra(asked.wish[0], left[0]), extra(asked.wish[1], left[1])] : [0, 0];
    return { ...each, more, given: fits ? sum([used, asked.take, more]) : used };
  });
  // Few slots are left.
  const isFull = grants.some(({ asked: { kind, limit }, others, given }) => {
    const free = limit[0] - others[0] - given[0];
    return kind === 'slots' && limit[0] >= 0 && free < Math.min(call.holders, limit[0] / 2);
  });
  const isScarce = isFull || call.returns === true;

  const held = new Map<string, Held>();
  const counters = grants.map((grant): CounterReply => {
    const { asked, period, others, spare, reserved, isOver, used, given } = grant;
    const isWindow = asked.kind === 'window';
    const from = isWindow ? startOf(grant, now) : grant.from;
    if (isWindow && from > 0) account.starts.set(asked.name, from);
    if (isWindow && from === 0) account.starts.delete(asked.name);
    if (period !== undefined || given[0] > 0) {
      held.set(asked.name, {
        ...{ from, given },
        spare: asked.kind === 'slots' ? [isScarce ? 0 : given[0], 0] : grant.more,
        reserved: period === undefined ? 0 : asked.reserved + given[1] - used[1],
      });
    }
    if (period !== undefined) write(period, holder, others[1], given[1]);
    const leftMs = isWindow && from > 0 ? from + WINDOW_MS - now : 0;
    const before = period?.before ?? -1;
    return { from, leftMs, before, others, spare, othersReserved: reserved, isOver, given };
  });
  const reply = { seq, epoch: account.epoch ?? '', fits, isScarce, counters };
  account.holders.set(holder, { seq, ends: now + LEASE_MS, held });
  account.replies.set(holder, reply);
  forgetHolders(account, now);
  return reply;
}

type LookedUp = {
  readonly kept: Period;
  readonly mark: number;
  readonly before: number | undefined;
  readonly total: number;
  readonly own: number;
};

function lookedUp(asked: CounterAsked, kept: Period, holder: string): LookedUp {
  const mark = kept.mark ?? asked.mark;
  const claimed = asked.before >= 0 && asked.mark === mark ? asked.before : undefined;
  const before = kept.before ?? claimed;
  return { kept, mark, before, total: kept.total, own: kept.used.get(holder) ?? 0 };
}

function missingOf(
  { epoch }: Account,
  { seed, counters }: ScriptCall,
  periods: readonly (LookedUp | undefined)[],
): Missing | undefined {
  const isMissing = periods.some(
    (period, index) =>
      period !== undefined &&
      (period.mark < 0 ||
        counters[index]?.from !== period.mark ||
        (counters[index]?.counts === true && period.before === undefined)),
  );
  if (!isMissing && (epoch !== undefined || seed !== undefined)) return undefined;
  const marks = periods.map((period) => period?.mark ?? -1);
  const owns = periods.map((period) => period?.own ?? 0);
  return { missing: epoch === undefined ? 'account' : 'periods', marks, owns };
}

function begin(
  account: Account,
  { seed = [], holder, seq }: ScriptCall,
  now: number,
  run: string,
): void {
  account.epoch = `${run}/${now}/${holder}/${seq}`;
  account.starts.clear();
  account.holders.clear();
  account.replies.clear();
  const held = new Map<string, Held>();
  for (const { name, age, count, tokens } of seed) {
    account.starts.set(name, now - age);
    held.set(name, { from: now - age, given: [count, tokens], spare: [0, 0], reserved: 0 });
  }
  account.holders.set('books', { seq: 0, ends: 0, held });
}

function look(
  account: Account,
  call: ScriptCall,
  asked: CounterAsked,
  period: LookedUp | undefined,
  now: number,
) {
  const { name, kind, take, limit } = asked;
  const from = period?.mark ?? account.starts.get(name) ?? 0;
  const all = [...account.holders].flatMap(([holder, { ends, held }]) => {
    const each = held.get(name);
    return holder === call.holder || each === undefined ? [] : [{ ...each, ends }];
  });
  const living = all.filter(({ ends }) => ends > now);
  const recent = all.filter(({ ends }) => ends - LEASE_MS > now - LAPSE_MS);
  const counted = {
    window: all.filter((each) => each.from === from),
    slots: living,
    period: [],
  }[kind];
  const total: Pair = [0, period === undefined ? 0 : period.total - period.own];
  const others = sum([total, ...counted.map(({ given }) => given)]);
  const isOver = isOverAt(account, call, asked, { from, now });
  const used: Pair = isOver ? [0, 0] : asked.used;
  const isEmpty = kind === 'window' && others[0] + used[0] === 0;
  const free = (place: 0 | 1, base: number): number =>
    limit[place] < 0 ? Infinity : limit[place] - base - others[place] - used[place] - take[place];
  return {
    ...{ asked, period, others, isOver, used, from: isEmpty ? 0 : from },
    spare: sum(recent.map(({ spare }) => spare)),
    reserved: sumOf(living.map(({ reserved }) => reserved)),
    left: [free(0, 0), free(1, period?.before ?? 0)] as const,
  };
}

type Look = ReturnType<typeof look> & { readonly given: Pair };

/** Whether the reported use was of an expired window, or the ledger has it. */
function isOverAt(
  { epoch }: Account,
  call: ScriptCall,
  { kind, from, latest }: CounterAsked,
  at: { readonly from: number; readonly now: number },
): boolean {
  const old = call.epoch !== epoch;
  const begun = Number(epoch?.split('/')[1]);
  if (kind !== 'window') return false;
  return from > 0 ? from !== at.from || old : old && at.now - latest <= begun - BOOKED_MS;
}

/** A window that nothing is left in has not started. */
function startOf({ asked, from, others, used, given }: Look, now: number): number {
  if (others[0] + given[0] === 0) return 0;
  return from > 0 ? from : now - (used[0] > 0 ? Math.min(asked.age, WINDOW_MS - 1) : 0);
}

function write(
  { kept, mark, before }: LookedUp,
  holder: string,
  others: number,
  own: number,
): void {
  kept.mark = mark;
  kept.total = others + own;
  kept.used.set(holder, own);
  if (before !== undefined) kept.before = before;
}

/** Of the others, those are forgotten who have nothing any more. */
function forgetHolders({ holders, replies, starts }: Account, now: number): void {
  for (const [name, { ends, held }] of holders) {
    const counts = [...held].some(([window, { from }]) => from === starts.get(window));
    if (ends > now || counts) continue;
    holders.delete(name);
    replies.delete(name);
  }
}
