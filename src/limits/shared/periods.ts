// What an account has used of days and months, in shared memory: three words each, which say the
// state of the books before its first claim, what the books had then, and what was claimed since.
// Each carries the number of the day or month, so that words of another one count nothing.

import { DAY_MS, type Span, utcDay, utcMonth } from '../../core/calendar.ts';
import type { AdmissionHistory } from '../contract.ts';
import { DAYS_KEPT, type Memory, MONTHS_KEPT, PERIOD_WORDS, PERIODS } from './memory.ts';
import { createPacking } from './words.ts';

/** A day or month as a claim knows it; `at` is its first word in the entry of the account. */
export type SharedPeriod = {
  readonly at: number;
  /** Its place among those of the account. */
  readonly slot: number;
  readonly number: number;
  readonly span: Span;
};

const NUMBERED = createPacking(20);

const [MARK, BEFORE, SINCE] = [0, 1, 2];

/** The day of an instant, in Unix milliseconds, in the entry of an account. */
export function dayAt(entry: number, timeMs: number): SharedPeriod {
  const number = Math.floor(timeMs / DAY_MS);
  const slot = number % DAYS_KEPT;
  return { at: entry + PERIODS + slot * PERIOD_WORDS, slot, number, span: utcDay(timeMs) };
}

export function monthAt(entry: number, timeMs: number): SharedPeriod {
  const time = new Date(timeMs);
  const number = time.getUTCFullYear() * 12 + time.getUTCMonth();
  const slot = DAYS_KEPT + (number % MONTHS_KEPT);
  return { at: entry + PERIODS + slot * PERIOD_WORDS, slot, number, span: utcMonth(timeMs) };
}

/** Whether claims can be counted in it; with `used`, whether all that was used of it is known. */
export function isKnown(memory: Memory, { at, number }: SharedPeriod, used: boolean): boolean {
  if (NUMBERED.tag(memory.load(at + SINCE)) !== number) return false;
  return !used || NUMBERED.tag(memory.load(at + BEFORE)) === number;
}

/** Asks the books for what is not known. Nothing is counted in a period before its mark is there. */
export async function learnPeriod(
  memory: Memory,
  accountId: string,
  { at, number, span }: SharedPeriod,
  history: AdmissionHistory,
  used: boolean,
): Promise<void> {
  const seen = memory.load(at + MARK);
  if (NUMBERED.tag(seen) !== number) {
    memory.swap(at + MARK, seen, NUMBERED.pack(number, await history.mark()));
  }
  const since = memory.load(at + SINCE);
  if (NUMBERED.tag(since) !== number) memory.swap(at + SINCE, since, NUMBERED.pack(number, 0));
  if (!used || NUMBERED.tag(memory.load(at + BEFORE)) === number) return;
  const mark = memory.load(at + MARK);
  if (NUMBERED.tag(mark) !== number) return;
  const before = await history.usedBefore(accountId, span, NUMBERED.value(mark));
  if (memory.load(at + MARK) === mark) {
    memory.store(at + BEFORE, NUMBERED.pack(number, before));
  }
}

/** For an entry that nobody else can see yet. */
export function clearPeriods(memory: Memory, entry: number): void {
  for (let word = 0; word < (DAYS_KEPT + MONTHS_KEPT) * PERIOD_WORDS; word += 1)
    memory.store(entry + PERIODS + word, 0n);
}

/** Names the beginning of the count: a period that was forgotten and began anew has another one. */
export function markOf(memory: Memory, { at }: SharedPeriod): bigint {
  return memory.load(at + MARK);
}

/** Model tokens used in the period, what is claimed by requests in flight included. */
export function usedIn(memory: Memory, { at, number }: SharedPeriod): number {
  const before = memory.load(at + BEFORE);
  const since = memory.load(at + SINCE);
  return (
    (NUMBERED.tag(before) === number ? NUMBERED.value(before) : 0) +
    (NUMBERED.tag(since) === number ? NUMBERED.value(since) : 0)
  );
}

/** Counts tokens (or takes them off), unless the sum would be above `limit`. */
export function addToPeriod(
  memory: Memory,
  period: SharedPeriod,
  tokens: number,
  limit = Infinity,
): boolean {
  const { at, number } = period;
  for (;;) {
    const word = memory.load(at + SINCE);
    if (NUMBERED.tag(word) !== number) return false;
    const since = Math.max(0, NUMBERED.value(word) + tokens);
    if (limit !== Infinity) {
      const before = memory.load(at + BEFORE);
      if (NUMBERED.tag(before) !== number || NUMBERED.value(before) + since > limit) return false;
    }
    if (memory.swap(at + SINCE, word, NUMBERED.pack(number, since))) return true;
  }
}
