// How Redis handles a call about an account: decide.lua in TypeScript, so that a simulation needs
// no Redis and controls its clock. server.test.ts compares it with the script on a real one. Keys
// never expire here, because no simulation lasts an hour.

import type {
  Missing,
  Pair,
  PeriodAsked,
  ScriptCall,
  ScriptDecision,
  ScriptReply,
  SlotsAsked,
  WindowAsked,
} from '../../../src/limits/leased/script.ts';

const WINDOW_MS = 60_000;
const LEASE_MS = 30_000;
/** What a holder does not use it has returned after so long, or may not use any more. */
const LAPSE_MS = 1_000;
/** What was admitted is in the books after so long. */
const BOOKED_MS = 500;

type WindowRecord = readonly [start: number, count: number, tokens: number];
type SlotsRecord = readonly [count: number, mayKeep: number];

/** What a holder has. */
type Holder = {
  seq: number;
  ends: number;
  /** What it was given of windows and caps beyond what it needed. */
  spare: Map<string, Pair>;
  reserved: Map<string, number>;
  readonly windows: Map<string, WindowRecord>;
  readonly slots: Map<string, SlotsRecord>;
};

type Account = {
  epoch: string | undefined;
  starts: Map<string, number>;
  readonly holders: Map<string, Holder>;
};

type Period = {
  mark: number | undefined;
  before: number | undefined;
  total: number;
  readonly used: Map<string, number>;
};

export type Counter = 'requests' | 'tokens' | 'slots' | 'day' | 'month';

export type Given = { readonly amount: number; readonly sinceMs: number };

export type Server = {
  /** `keys` are those of the account and of the periods that the call asks for. */
  readonly decide: (
    keys: readonly string[],
    call: ScriptCall,
  ) => ScriptReply & { readonly seq: number };
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
    return { amount: sumOf(living.map(({ slots }) => slots.get('all')?.[0] ?? 0)), sinceMs: 0 };
  }
  const sinceMs = starts.get('plan') ?? Infinity;
  if (counter === 'day' || counter === 'month' || nowMs - sinceMs >= WINDOW_MS) {
    return { amount: 0, sinceMs: 0 };
  }
  const amounts = all.map(({ windows }) => {
    const [start, count, tokens] = windows.get('plan') ?? [0, 0, 0];
    if (start !== sinceMs) return 0;
    return counter === 'requests' ? count : tokens;
  });
  return { amount: sumOf(amounts), sinceMs };
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const newAccount = (): Account => ({ epoch: undefined, starts: new Map(), holders: new Map() });
const newHolder = (): Holder => ({
  ...{
    seq: 0,
    ends: 0,
    spare: new Map(),
    reserved: new Map(),
    windows: new Map(),
    slots: new Map(),
  },
});
const copyOf = (holder: Holder): Holder => ({
  ...holder,
  windows: new Map(holder.windows),
  slots: new Map(holder.slots),
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

function decide(deciding: Deciding): ScriptReply & { readonly seq: number } {
  const { account, kept, call, now, run } = deciding;
  const periods = call.periods.map((asked, index) => lookedUp(asked, kept[index], call.holder));
  const missing = missingOf(account, call, periods);
  if (missing !== undefined) return { seq: call.seq, ...missing };
  if (account.epoch === undefined) begin(account, call, now, run);
  // Copies, because a call that is repeated changes nothing.
  const starts = new Map([...account.starts].filter(([, start]) => now - start < WINDOW_MS));
  const own = copyOf(account.holders.get(call.holder) ?? newHolder());
  const repeated = own.seq >= call.seq;
  const had = repeated ? own : undefined;
  const windows = call.windows.map((asked) => lookAtWindow(account, starts, call, asked, now, had));
  const slots = call.slots.map((asked) => lookAtSlots(account, call, asked, now));
  const used = call.periods.map((asked, index) => lookAtPeriod(asked, periods[index]));
  const fits = [...windows, ...slots, ...used].every((each) => each.fits);
  const extra = (wish: number, left: number): number =>
    Math.max(0, Math.min(wish, Math.floor(left / (2 * call.holders))));

  own.spare = new Map();
  if (!repeated) own.reserved = new Map();
  /** What others were given of a window or a cap beyond what they needed. */
  const spareOf = (name: string): Pair => {
    const spare = othersOf(account, call).filter((each) => isRecent(each, now));
    const sums = [0, 1].map((at) => sumOf(spare.map((each) => each.spare.get(name)?.[at] ?? 0)));
    return [sums[0] ?? 0, sums[1] ?? 0];
  };
  const isScarce = (limit: number, left: number): boolean =>
    limit >= 0 && left < Math.min(call.holders, limit / 2);

  const decided: ScriptDecision & { readonly seq: number } = {
    seq: call.seq,
    epoch: account.epoch ?? '',
    fits,
    windows: windows.map((window) => {
      const { asked, start: begun, count, tokens, keep, freeCount, freeTokens, other } = window;
      let mine = keep;
      if (!repeated && fits && (asked.need[0] > 0 || begun !== undefined) && freeCount >= 0) {
        const more: Pair = [extra(asked.wish[0], freeCount), extra(asked.wish[1], freeTokens)];
        mine = [keep[0] + asked.need[0] + more[0], keep[1] + asked.need[1] + more[1]];
        own.spare.set(asked.name, more);
      }
      const start = startOf(begun, count + mine[0], keep, asked.age, now);
      setOrDelete(starts, asked.name, start);
      setOrDelete(own.windows, asked.name, start === undefined ? undefined : [start, ...mine]);
      const left = start === undefined ? 0 : start + WINDOW_MS - now;
      return [start ?? 0, left, count, tokens, ...mine, other ? 1 : 0, ...spareOf(asked.name)];
    }),
    slots: slots.map(({ asked, others, spare, left }) => {
      let mine = asked.keep;
      if (repeated) mine = own.slots.get(asked.name)?.[0] ?? 0;
      else if (fits && (asked.need > 0 || asked.wish > 0) && left >= 0) {
        mine = asked.keep + asked.need + extra(asked.wish, left);
      }
      const mayKeep = isScarce(asked.limit, asked.limit - others - mine) ? 0 : 1;
      setOrDelete(own.slots, asked.name, mine > 0 ? [mine, mayKeep] : undefined);
      return [others, mine, mayKeep, spare];
    }),
    periods: used.map(({ asked, period, others, left }, index) => {
      let mine = asked.keep;
      if (repeated) mine = period.own;
      else if (fits && (asked.need > 0 || asked.wish > 0) && left >= 0) {
        const more = extra(asked.wish, left);
        mine = asked.keep + asked.need + more;
        own.spare.set(asked.name, [0, more]);
      }
      if (!repeated) write(kept[index], call.holder, period, others + mine, mine);
      if (!repeated) own.reserved.set(asked.name, asked.reserved + mine - asked.keep);
      const reserved = sumOf(
        othersOf(account, call)
          .filter(({ ends }) => ends > now)
          .map((each) => each.reserved.get(asked.name) ?? 0),
      );
      return [period.mark, period.before ?? -1, others, mine, spareOf(asked.name)[1], reserved];
    }),
  };
  if (!repeated) keepHolders(account, call, { own, starts, now });
  return decided;
}

type LookedUp = {
  readonly mark: number;
  readonly before: number | undefined;
  readonly total: number;
  readonly own: number;
};

function lookedUp(asked: PeriodAsked, kept: Period | undefined, holder: string): LookedUp {
  const mark = kept?.mark ?? asked.mark;
  const claimed = asked.before >= 0 && asked.known === mark ? asked.before : undefined;
  return {
    mark,
    before: kept?.before ?? claimed,
    total: kept?.total ?? 0,
    own: kept?.used.get(holder) ?? 0,
  };
}

function missingOf(
  { epoch }: Account,
  { seed, periods: asked }: ScriptCall,
  periods: readonly LookedUp[],
): Missing | undefined {
  const missing: Missing['missing'][number][] = [];
  if (epoch === undefined && seed === undefined) missing.push('account');
  periods.forEach(({ mark, before }, index) => {
    if (mark < 0 || asked[index]?.known !== mark) missing.push('mark');
    else if (before === undefined && asked[index]?.counts === true) missing.push('before');
  });
  if (missing.length === 0) return undefined;
  return { missing, marks: periods.map(({ mark }) => mark), owns: periods.map(({ own }) => own) };
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
  const books = newHolder();
  for (const { name, age, count, tokens } of seed) {
    account.starts.set(name, now - age);
    books.windows.set(name, [now - age, count, tokens]);
  }
  account.holders.set('books', books);
}

const othersOf = ({ holders }: Account, call: ScriptCall): Holder[] =>
  [...holders].flatMap(([name, holder]) => (name === call.holder ? [] : [holder]));

/** A holder seen so recently may still have unused permits that it has not returned. */
const isRecent = ({ ends }: Holder, now: number): boolean => ends - LEASE_MS > now - LAPSE_MS;

/** Of a limit below zero there is none. */
const free = (limit: number, others: number, keep: number): number =>
  limit < 0 ? Infinity : limit - others - keep;

function lookAtWindow(
  account: Account,
  starts: ReadonlyMap<string, number>,
  call: ScriptCall,
  asked: WindowAsked,
  now: number,
  /** What the holder has, where it knows already. */
  repeated: Holder | undefined,
) {
  const start = starts.get(asked.name);
  let count = 0;
  let tokens = 0;
  for (const [holder, { windows }] of account.holders) {
    const window = windows.get(asked.name);
    if (holder === call.holder || window === undefined || window[0] !== start) continue;
    count += window[1];
    tokens += window[2];
  }
  const old = call.epoch !== account.epoch;
  const begun = Number(account.epoch?.split('/')[1]);
  const other =
    asked.start > 0 ? asked.start !== start || old : old && now - asked.latest <= begun - BOOKED_MS;
  const given = repeated?.windows.get(asked.name);
  const had: Pair = given !== undefined && given[0] === start ? [given[1], given[2]] : [0, 0];
  const keep: Pair = repeated !== undefined ? had : other ? [0, 0] : asked.keep;
  const running = count + keep[0] === 0 ? undefined : start;
  const freeCount = free(asked.limit[0], count, keep[0]) - asked.need[0];
  const freeTokens = free(asked.limit[1], tokens, keep[1]) - asked.need[1];
  const fits = asked.need[0] <= 0 || (freeCount >= 0 && freeTokens >= 0);
  return { asked, start: running, count, tokens, keep, freeCount, freeTokens, other, fits };
}

function lookAtSlots(account: Account, call: ScriptCall, asked: SlotsAsked, now: number) {
  let others = 0;
  let spare = 0;
  for (const holder of othersOf(account, call)) {
    if (holder.ends <= now) continue;
    const [count, mayKeep] = holder.slots.get(asked.name) ?? [0, 0];
    others += count;
    if (mayKeep > 0 && isRecent(holder, now)) spare += count;
  }
  const left = free(asked.limit, others, asked.keep) - asked.need;
  return { asked, others, spare, left, fits: asked.need <= 0 || left >= 0 };
}

function lookAtPeriod(asked: PeriodAsked, period: LookedUp = NOTHING) {
  const others = period.total - period.own;
  const left = free(asked.limit, (period.before ?? 0) + others, asked.keep) - asked.need;
  return { asked, period, others, left, fits: asked.need <= 0 || left >= 0 };
}

const NOTHING: LookedUp = { mark: -1, before: undefined, total: 0, own: 0 };

/** A window that nothing is left in has not started. */
function startOf(
  begun: number | undefined,
  count: number,
  keep: Pair,
  age: number,
  now: number,
): number | undefined {
  if (count === 0) return undefined;
  return begun ?? now - (keep[0] > 0 ? Math.min(age, WINDOW_MS - 1) : 0);
}

function setOrDelete<T>(map: Map<string, T>, name: string, value: T | undefined): void {
  if (value === undefined) map.delete(name);
  else map.set(name, value);
}

function write(
  kept: Period | undefined,
  holder: string,
  { mark, before }: LookedUp,
  total: number,
  own: number,
): void {
  if (kept === undefined) return;
  kept.mark = mark;
  kept.total = total;
  kept.used.set(holder, own);
  if (before !== undefined) kept.before = before;
}

/** Of the others, those are forgotten who have nothing any more. */
function keepHolders(
  account: Account,
  { holder, seq }: ScriptCall,
  {
    own,
    starts,
    now,
  }: { readonly own: Holder; readonly starts: Map<string, number>; readonly now: number },
): void {
  own.seq = seq;
  own.ends = now + LEASE_MS;
  account.holders.set(holder, own);
  account.starts = starts;
  for (const [name, { ends, windows }] of account.holders) {
    const lives = ends > now || name === holder;
    const counts = [...windows].some(([window, [start]]) => start === starts.get(window));
    if (!lives && !counts) account.holders.delete(name);
  }
}
