// Formats and writes the request lines of the log in batches. One by one, that would cost as much
// as the rest of a refusal.

import { isoTime } from '../core/calendar.ts';
import type { RequestSummary } from '../core/request-summary.ts';
import { requestLine } from './request-line.ts';

/** Some 40 KB. More would live through a collection of garbage, which costs more than a write. */
const WAITING_MAX = 64;

const FLUSH_MS = 100;

export function createRequestLines(write: (text: string) => void) {
  let waiting: { readonly summary: RequestSummary; readonly atMs: number }[] = [];
  let timer: Timer | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    let text = '';
    let lastMs = 0;
    let time = '';
    for (const { summary, atMs } of waiting) {
      // Printing a time takes as long as the rest of a line, and lines share theirs.
      if (atMs !== lastMs) time = isoTime(atMs);
      lastMs = atMs;
      text += requestLine(summary, time);
    }
    waiting = [];
    write(text);
  }

  return {
    /** `summary` must not change afterwards. */
    add(summary: RequestSummary): void {
      waiting.push({ summary, atMs: Date.now() });
      if (waiting.length >= WAITING_MAX) flush();
      else timer ??= setTimeout(flush, FLUSH_MS);
    },
    flush,
  };
}
