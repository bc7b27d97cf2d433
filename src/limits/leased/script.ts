// The call of a holder about one account and its reply, as decide.lua reads and writes them. A
// reply that does not match its call is rejected.

import type { Redis } from '../../store/redis/client.ts';
import { redisScript } from '../../store/redis/script.ts';
import lua from './decide.lua' with { type: 'text' };

/** Requests and tokens. */
export type Pair = readonly [count: number, tokens: number];

/** No limit. */
export const UNLIMITED = -1;

export type WindowAsked = {
  readonly name: string;
  /** The start of the counted window by Redis's clock; 0 if there is none yet. */
  readonly start: number;
  /** Milliseconds since the first of the kept usage was admitted. */
  readonly age: number;
  /** Milliseconds since the last of it was admitted. */
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
  /** Names its key: `2026-11-21` or `2026-11`. */
  readonly name: string;
  /** The mark from which `keep` counts; -1: none yet. */
  readonly known: number;
  /** A mark for a period that has none; -1: not looked up. */
  readonly mark: number;
  /** The ledger's usage at the known mark; -1: not looked up. */
  readonly before: number;
  /** Whether that usage is needed. */
  readonly counts: boolean;
  readonly keep: number;
  /** The part of it reserved by requests in flight. */
  readonly reserved: number;
  readonly need: number;
  readonly wish: number;
  readonly limit: number;
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
  readonly windows: readonly WindowAsked[];
  readonly slots: readonly SlotsAsked[];
  readonly periods: readonly PeriodAsked[];
};

/** What has to be read from the ledger before Redis can decide. */
export type Missing = {
  readonly missing: readonly ('account' | 'mark' | 'before')[];
  /** The mark of each requested period; -1 if there is none. */
  readonly marks: readonly number[];
  /** This holder's last reported usage of each period since that mark. */
  readonly owns: readonly number[];
};

export type ScriptDecision = {
  /** Changes when the counters are rebuilt from the ledger. */
  readonly epoch: string;
  /** Whether all needs are met; otherwise none is granted. */
  readonly fits: boolean;
  readonly windows: readonly (readonly [
    start: number,
    leftMs: number,
    othersCount: number,
    othersTokens: number,
    count: number,
    tokens: number,
    /**
     * 1 if the kept usage does not belong to this window: it was another one, or the ledger has it.
     */
    over: number,
    /** The part of other holders' permits that may be unused and not yet reported. */
    spareCount: number,
    spareTokens: number,
  ])[];
  readonly slots: readonly (readonly [
    others: number,
    count: number,
    /** 0 if a freed slot has to be reported immediately. */
    mayKeep: number,
    /** The part of other holders' slots that may be unused. */
    spare: number,
  ])[];
  readonly periods: readonly (readonly [
    mark: number,
    before: number,
    others: number,
    tokens: number,
    /** The part of other holders' tokens that may be unused. */
    spare: number,
    /** Of other holders: tokens reserved by their requests in flight, plus unused ones. */
    reserved: number,
  ])[];
};

export type ScriptReply = Missing | ScriptDecision;

export type Decide = (accountId: string, call: ScriptCall) => Promise<ScriptReply>;

const SCRIPT = redisScript(lua);

/** All keys of an account are in one hash slot of a cluster. */
export function createDecide(redis: Pick<Redis, 'run'>, prefix: string): Decide {
  return async (accountId, call) => {
    const key = (name: string): string => `${prefix}{${accountId}}:${name}`;
    const keys = [key('limits'), ...call.periods.map(({ name }) => key(name))];
    const isAnswer = (reply: unknown): boolean => isAnswerTo(call.seq, reply);
    const text = await redis.run(SCRIPT, keys, [JSON.stringify(call)], isAnswer);
    // Lua encodes an empty list as a JSON object, but then none was requested and it is not read.
    return JSON.parse(String(text)) as ScriptReply;
  };
}

/** Checks the holder's sequence number, so that no other reply on the connection matches. */
function isAnswerTo(seq: number, reply: unknown): boolean {
  return (
    typeof reply === 'string' && [',', '}'].some((next) => reply.includes(`"seq":${seq}${next}`))
  );
}
