// The call of a holder about one account and its reply, as decide.lua reads and writes them. A
// reply that does not match its call is rejected.

import type { Redis } from '../../store/redis/client.ts';
import { redisScript } from '../../store/redis/script.ts';
import lua from './decide.lua' with { type: 'text' };

/** Requests and tokens. */
export type Pair = readonly [count: number, tokens: number];

/** No limit. */
export const UNLIMITED = -1;

export type CounterKind = 'window' | 'slots' | 'period';

/** What a holder uses of a counter. */
export type CounterUse = {
  /** Of a period, names its key: `2026-11-21` or `2026-11`. */
  readonly name: string;
  readonly kind: CounterKind;
  /**
   * From where `used` counts: the start of a window by Redis's clock, 0 if it has none yet, or the
   * mark of a period in the ledger, -1 if none is known.
   */
  readonly from: number;
  readonly used: Pair;
  /** The tokens of `used` that are reserved by requests in flight. */
  readonly reserved: number;
  readonly limit: Pair;
  /** The ledger's usage of a period at its mark; -1 if it was not needed. */
  readonly before: number;
};

export type CounterAsked = CounterUse & {
  /** Milliseconds since the first and the last of `used` was admitted. */
  readonly age: number;
  readonly latest: number;
  /** Zero for a counter that is only reported. */
  readonly take: Pair;
  /** To be had beyond that, where there is plenty. */
  readonly wish: Pair;
  /** A mark for a period that has none; -1: not looked up. */
  readonly mark: number;
  /** Whether the ledger's usage is needed. */
  readonly counts: boolean;
};

/** What a holder knows of a counter from the answer to its last call. */
export type CounterGranted = Pick<CounterUse, 'from' | 'before'> & {
  /** The permits of the holder, used ones included. */
  readonly given: Pair;
  readonly others: Pair;
  /** The part of other holders' permits that may be unused and not yet reported. */
  readonly spare: Pair;
  /** Of other holders: tokens reserved by their requests in flight, plus unused ones. */
  readonly othersReserved: number;
};

export type CounterReply = CounterGranted & {
  /** Until the window ends; 0 if it has not started. */
  readonly leftMs: number;
  /** The reported use does not belong to this window: it was another one, or the ledger has it. */
  readonly isOver: boolean;
};

/** A window rebuilt from the ledger, for a Redis without state. */
export type SeedWindow = {
  readonly name: string;
  readonly age: number;
  readonly count: number;
  readonly tokens: number;
};

export type ScriptCall = {
  /** Incremented with every call of a holder. */
  readonly seq: number;
  readonly holder: string;
  /** The number of holders that share the remainder. */
  readonly holders: number;
  readonly epoch: string;
  /** Replaces Redis's clock in tests. */
  readonly now?: number;
  readonly seed?: readonly SeedWindow[];
  /** Keeps nothing unused: what becomes free is reported at once. */
  readonly returns?: true;
  readonly counters: readonly CounterAsked[];
};

/** What has to be read from the ledger before Redis can decide. */
export type Missing = {
  readonly missing: 'account' | 'periods';
  /** The mark of each counter that is a period; -1 if there is none. */
  readonly marks: readonly number[];
  /** This holder's last reported usage since that mark. */
  readonly owns: readonly number[];
};

export type ScriptDecision = {
  /** Changes when the counters are rebuilt from the ledger. */
  readonly epoch: string;
  /** Whether all needs are met; otherwise nothing is granted. */
  readonly fits: boolean;
  /** Few slots are left, or others wait: what becomes free has to be reported at once. */
  readonly isScarce: boolean;
  /** In the order of the call. */
  readonly counters: readonly CounterReply[];
};

/** `late`: a newer call has been answered. */
export type ScriptReply = Missing | ScriptDecision | { readonly late: true };

export type Decide = (accountId: string, call: ScriptCall) => Promise<ScriptReply>;

const SCRIPT = redisScript(lua);

/** All keys of an account are in one hash slot of a cluster. */
export function createDecide(redis: Pick<Redis, 'run'>, prefix: string): Decide {
  return async (accountId, call) => {
    const key = (name: string): string => `${prefix}{${accountId}}:${name}`;
    const periods = call.counters.filter(({ kind }) => kind === 'period');
    const keys = [key('counters'), ...periods.map(({ name }) => key(name))];
    const isAnswer = (reply: unknown): boolean => isAnswerTo(call.seq, reply);
    const text = await redis.run(SCRIPT, keys, [JSON.stringify(call)], isAnswer);
    return JSON.parse(String(text)) as ScriptReply;
  };
}

/** Checks the holder's sequence number, so that no other reply on the connection matches. */
function isAnswerTo(seq: number, reply: unknown): boolean {
  return (
    typeof reply === 'string' && [',', '}'].some((next) => reply.includes(`"seq":${seq}${next}`))
  );
}
