// Windows of 60 seconds in shared memory, of two words each: when it started, with its requests; and
// its tokens, with a tag of that start. A word that belongs to a window that is over counts nothing,
// so a window is opened by whoever takes first and nobody has to close it. Times are in `ticks`.

import { createWindow, type RateWindow, WINDOW_MS } from '../../core/window.ts';
import type { Memory } from './memory.ts';
import { createPacking } from './words.ts';

/** The tag is the requests, and the value when the window started: 0 where it has not. */
const STARTED = createPacking(24);
const REQUESTS_MAX = 2 ** 24 - 1;

/** The tag says of which window the tokens are: it comes again after three days. */
const TOKENS = createPacking(28);

/** Past admissions started before the clock did. */
const TICKS_OFFSET = 2 ** 20;

/** The clock of the windows: whole milliseconds, never below one. */
export function ticksOf(monotonicMs: number): number {
  return Math.floor(monotonicMs) + TICKS_OFFSET;
}

function isRunning(word: bigint, nowTicks: number): boolean {
  return word !== 0n && nowTicks - STARTED.value(word) < WINDOW_MS;
}

export function windowIsRunning(memory: Memory, at: number, nowTicks: number): boolean {
  return isRunning(memory.load(at), nowTicks);
}

/** What the window at a word has admitted. */
export function readWindow(memory: Memory, at: number, nowTicks: number): RateWindow {
  const word = memory.load(at);
  if (!isRunning(word, nowTicks)) return createWindow();
  const startedAt = STARTED.value(word);
  return {
    startedAt,
    requests: STARTED.tag(word),
    tokens: tokensOf(memory.load(at + 1), startedAt),
  };
}

/** For an entry that nobody else can see yet. */
export function writeWindow(
  memory: Memory,
  at: number,
  { startedAt = 0, requests, tokens }: RateWindow,
): void {
  memory.store(at, requests === 0 ? 0n : STARTED.pack(requests, startedAt));
  memory.store(at + 1, TOKENS.pack(startedAt, tokens));
}

/** Counts one request, unless there are `limit`. Answers when its window started. */
export function takeRequest(
  memory: Memory,
  at: number,
  limit: number,
  nowTicks: number,
): number | undefined {
  for (;;) {
    const word = memory.load(at);
    const running = isRunning(word, nowTicks);
    const used = running ? STARTED.tag(word) : 0;
    if (used >= Math.min(limit, REQUESTS_MAX)) return undefined;
    const startedAt = running ? STARTED.value(word) : nowTicks;
    if (memory.swap(at, word, STARTED.pack(used + 1, startedAt))) return startedAt;
  }
}

/** Counts tokens of a request that was counted; not above `limit`, nor in a window that is over. */
export function takeTokens(
  memory: Memory,
  at: number,
  { startedAt, tokens, limit }: { startedAt: number; tokens: number; limit: number },
): boolean {
  for (;;) {
    // In this order: tokens of a later window, once read, show a later start.
    const word = memory.load(at + 1);
    if (STARTED.value(memory.load(at)) !== startedAt) return false;
    const used = tokensOf(word, startedAt) + tokens;
    if (used > Math.min(limit, TOKENS.valueMax)) return false;
    if (memory.swap(at + 1, word, TOKENS.pack(startedAt, used))) return true;
  }
}

/** Before its request is given back. */
export function giveBackTokens(
  memory: Memory,
  at: number,
  startedAt: number,
  tokens: number,
): void {
  for (;;) {
    const word = memory.load(at + 1);
    if (TOKENS.tag(word) !== TOKENS.fit(startedAt)) return;
    const left = Math.max(0, TOKENS.value(word) - tokens);
    if (memory.swap(at + 1, word, TOKENS.pack(startedAt, left))) return;
  }
}

/** A window that nothing is left in has not started. */
export function giveBackRequest(memory: Memory, at: number, startedAt: number): void {
  for (;;) {
    const word = memory.load(at);
    if (word === 0n || STARTED.value(word) !== startedAt) return;
    const left = STARTED.tag(word) - 1;
    if (memory.swap(at, word, left === 0 ? 0n : STARTED.pack(left, startedAt))) return;
  }
}

function tokensOf(word: bigint, startedAt: number): number {
  return TOKENS.tag(word) === TOKENS.fit(startedAt) ? TOKENS.value(word) : 0;
}
