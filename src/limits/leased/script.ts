// The call that a holder makes about one account, and the reply: what decide.lua reads and writes.
// A reply that is not the one to its call is refused, whatever brought it here.

import type { Redis } from '../../store/redis/client.ts';
import { redisScript } from '../../store/redis/script.ts';
import lua from './decide.lua' with { type: 'text' };

/** Requests and tokens. */
export type Pair = readonly [count: number, tokens: number];

/** No limit. */
export const UNLIMITED = -1;

export type WindowAsked = {
  readonly name: string;
  /** When the window began whose numbers these are, by the clock of Redis; 0 for none yet. */
  readonly start: number;
  /** How long ago the first of what is kept was admitted, in milliseconds. */
  readonly age: number;
  /** The same of the last of it. */
  readonly latest: number;
  readonly keep: Pair;
  readonly need: Pair;
  readonly wish: Pair;
  readonly limit: Pair;
};

export type SlotsAsked = {
  readonly name: string;
  readonly keep: number;
  readonly need: number;
  readonly wish: number;
  readonly limit: number;
};

export type PeriodAsked = {
  /** Tells its key from others: `2026-11-21` or `2026-11`. */
  readonly name: string;
  /** The mark from which `keep` counts; -1: none yet. */
  readonly known: number;
  /** A mark for a period that has none; -1: not looked up. */
  readonly mark: number;
  /** What the books had at the known mark; -1: not looked up. */
  readonly before: number;
  /** Whether that has to be known. */
  readonly counts: boolean;
  readonly keep: number;
  /** Of that, what requests in flight have reserved. */
  readonly reserved: number;
  readonly need: number;
  readonly wish: number;
  readonly limit: number;
};

/** A window as the books know it, for a Redis that knows nothing. */
export type SeedWindow = {
  readonly name: string;
  readonly age: number;
  readonly count: number;
  readonly tokens: number;
};

export type ScriptCall = {
  /** Rises with every call of a holder. */
  readonly seq: number;
  readonly holder: string;
  /** How many holders share what is left. */
  readonly holders: number;
  readonly epoch: string;
  /** In the place of the clock of Redis, in tests. */
  readonly now?: number;
  readonly seed?: readonly SeedWindow[];
  readonly windows: readonly WindowAsked[];
  readonly slots: readonly SlotsAsked[];
  readonly periods: readonly PeriodAsked[];
};

/** What has to be looked up in the books before anything can be decided. */
export type Missing = {
  readonly missing: readonly ('account' | 'mark' | 'before')[];
  /** The mark of each period that was asked for; -1 where there is none. */
  readonly marks: readonly number[];
  /** What this holder has used of each since that mark, as Redis was told last. */
  readonly owns: readonly number[];
};

export type ScriptDecision = {
  /** Changes when the counters are begun anew from the books. */
  readonly epoch: string;
  /** Whether all needs are met; else none is. */
  readonly fits: boolean;
  readonly windows: readonly (readonly [
    start: number,
    leftMs: number,
    othersCount: number,
    othersTokens: number,
    count: number,
    tokens: number,
    /** 1 where what was kept is none of this window: it was another, or the books have it. */
    over: number,
    /** Of the others', what may be unused: their holders need not have told of it yet. */
    spareCount: number,
    spareTokens: number,
  ])[];
  readonly slots: readonly (readonly [
    others: number,
    count: number,
    /** 0 where it has to be told at once when one of them is not used any more. */
    mayKeep: number,
    /** Of the others', those that may be unused. */
    spare: number,
  ])[];
  readonly periods: readonly (readonly [
    mark: number,
    before: number,
    others: number,
    tokens: number,
    /** Of the others', those that may be unused. */
    spare: number,
    /** Of the others', what their requests in flight have reserved, and those. */
    reserved: number,
  ])[];
};

export type ScriptReply = Missing | ScriptDecision;

export type Decide = (accountId: string, call: ScriptCall) => Promise<ScriptReply>;

const SCRIPT = redisScript(lua);

/** Every key of an account lies in one slot of a cluster. */
export function createDecide(redis: Pick<Redis, 'run'>, prefix: string): Decide {
  return async (accountId, call) => {
    const key = (name: string): string => `${prefix}{${accountId}}:${name}`;
    const keys = [key('limits'), ...call.periods.map(({ name }) => key(name))];
    const isAnswer = (reply: unknown): boolean => isAnswerTo(call.seq, reply);
    const text = await redis.run(SCRIPT, keys, [JSON.stringify(call)], isAnswer);
    // An empty list of Lua is an object in JSON; then none was asked for, and nobody looks.
    return JSON.parse(String(text)) as ScriptReply;
  };
}

/** A number of the holder's own, so it stands in no answer to anything else on its connection. */
function isAnswerTo(seq: number, reply: unknown): boolean {
  return (
    typeof reply === 'string' && [',', '}'].some((next) => reply.includes(`"seq":${seq}${next}`))
  );
}
