// Queues the caller's commands until a batch of them is written, in this process (`ledger.ts`) or
// in the ledger's thread (`remote.ts`). A batch is what arrived in one turn of the event loop, or
// while the previous batch was written. No timer delays a command with a waiting caller.

import { createBackoff } from '../async/backoff.ts';
import { every, type Stop } from '../async/every.ts';
import type { SentAnswer } from './answers.ts';
import type { Ledger, LedgerRequest } from './contract.ts';
import { LedgerSilent, LedgerUnavailable, unpackError } from './error.ts';
import {
  isExpected,
  isNew,
  isRefusable,
  isUnhurried,
  type LedgerTrouble,
  promisedFor,
  requireAmountOf,
  WaitingCommand,
} from './waiting.ts';
import { BATCH_MAX } from './writer.ts';

export type QueueOptions = {
  /** Posts a batch. The next one follows once this one is `written` or `lost`. */
  readonly post: (batch: readonly LedgerRequest[]) => void;
  /** Called once when a settle or release is kept, when one is dropped, and at the first refusal. */
  readonly onTrouble?: ((trouble: LedgerTrouble) => void) | undefined;
  /** Called for each answered batch with its size and the time from post to answer. */
  readonly onBatch?: ((size: number, durationMs: number) => void) | undefined;
  /**
   * How long the caller of a settle or release waits for the disk; absent: for ever. Its promise
   * rejects with `LedgerSilent`, and the command stays here until it is on disk.
   */
  readonly bookingMs?: number | undefined;
  /** Replaces the default in tests. */
  readonly turnMs?: number | undefined;
};

/** Commands that may wait for the disk; above it, new ones are rejected. */
export const WAITING_MAX = 10_000;

/** How long a new command waits for its turn, and so for a database that stalls. */
const TURN_MS = 5_000;

/** How often within that time the queue checks for late commands. */
const LATE_LOOKS = 5;

/** How long a command without a waiting caller may wait to join a batch: that saves a sync. */
const UNHURRIED_MS = 20;

/** How long closing waits for the answers to posted commands. */
const CLOSE_MS = 10_000;

export function createQueue(options: QueueOptions) {
  const { post, onTrouble = () => undefined, onBatch, turnMs = TURN_MS } = options;
  const { bookingMs = Number.POSITIVE_INFINITY } = options;
  const waiting: WaitingCommand[] = [];
  const posted: WaitingCommand[] = [];
  const kept: WaitingCommand[] = [];
  /** The last queued checkpoint of each request, where no caller waits for it. */
  const unhurried = new Map<string, WaitingCommand>();
  let flushing = false;
  /** Whether the last write failed. */
  let failing = false;
  let reported = false;
  let closing = false;
  let unhurriedTimer: Timer | undefined;
  let stopRefusing: Stop | undefined;
  const retries = createBackoff();
  let retryTimer: Timer | undefined;
  let postedAt = 0;
  let onIdle: () => void = () => undefined;

  const pending = (): number => waiting.length + posted.length + kept.length;

  /** Rejects where the amount is invalid, and where too many commands wait. */
  function submit<Result>(request: LedgerRequest): Promise<Result> {
    try {
      requireAmountOf(request);
      requireRoomFor(request);
    } catch (error) {
      return Promise.reject(error);
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const ended = promisedFor(request);
    if (ended !== undefined && unhurried.size > 0) supersede(ended);
    // The contract guarantees the type of the result.
    const entry = new WaitingCommand(request, resolve as (result: unknown) => void, reject);
    waiting.push(entry);
    if (isUnhurried(request)) {
      unhurried.set(request.command.requestId, entry);
      unhurriedTimer ??= setTimeout(flushSoon, UNHURRIED_MS);
    } else flushSoon();
    return promise;
  }

  function requireRoomFor(request: LedgerRequest): void {
    if (!isRefusable(request) || pending() < WAITING_MAX) return;
    throw new LedgerUnavailable(`More than ${WAITING_MAX} commands wait for the disk.`);
  }

  /** The end of a request includes what a queued checkpoint of it says. */
  function supersede(requestId: string): void {
    const entry = unhurried.get(requestId);
    if (entry === undefined) return;
    unhurried.delete(requestId);
    waiting.splice(waiting.indexOf(entry), 1);
    entry.resolve(undefined);
  }

  /** One batch is posted at a time: commands that arrive until its answer join the next one. */
  function flushSoon(): void {
    if (flushing || posted.length > 0) return;
    flushing = true;
    setImmediate(flush);
  }

  function flush(): void {
    flushing = false;
    clearTimeout(unhurriedTimer);
    unhurriedTimer = undefined;
    postedAt = performance.now();
    const batch: LedgerRequest[] = [];
    for (const entry of waiting.splice(0, BATCH_MAX)) {
      if (!isInTime(entry, postedAt)) continue;
      const { request } = entry;
      if (isUnhurried(request)) unhurried.delete(request.command.requestId);
      posted.push(entry);
      batch.push(request);
    }
    stopRefusing ??= every(turnMs / LATE_LOOKS, refuseLate);
    if (batch.length > 0) post(batch);
    else goOn();
  }

  /** Commands of a running request are never late. */
  function isLate({ request, askedAt }: WaitingCommand, nowMs: number): boolean {
    return nowMs - askedAt > turnMs && isNew(request);
  }

  function isInTime(entry: WaitingCommand, nowMs: number): boolean {
    if (!isLate(entry, nowMs)) return true;
    entry.reject(new LedgerUnavailable(`The command has waited for the disk for ${turnMs} ms.`));
    return false;
  }

  /** A batch may wait for a stalled disk or a lock for much longer than its callers do. */
  function refuseLate(): void {
    if (posted.length === 0 && kept.length === 0) stopLooking();
    const nowMs = performance.now();
    waiting.splice(0, waiting.length, ...waiting.filter((entry) => isInTime(entry, nowMs)));
    for (const entry of posted) {
      // Recovery after a crash may take long, and a start waits for it.
      if (entry.request.name === 'recover' || !isLate(entry, nowMs)) continue;
      entry.reject(new LedgerSilent(`The disk has not answered for ${turnMs} ms.`));
    }
    for (const entry of [...waiting, ...posted, ...kept]) {
      if (promisedFor(entry.request) === undefined || nowMs - entry.askedAt < bookingMs) continue;
      entry.reject(new LedgerSilent(`The disk has not taken the bill for ${bookingMs} ms.`));
    }
  }

  function stopLooking(): void {
    stopRefusing?.();
    stopRefusing = undefined;
  }

  /** The answers to the posted holds, before they are on disk. */
  function decided(answers: readonly SentAnswer[]): void {
    for (const [index, entry] of posted.entries()) {
      const answer = answers[index];
      if (answer?.ok === true) entry.decide(answer.result);
    }
  }

  /** The answers to the posted commands, in order, once they are on disk. */
  function written(answers: readonly SentAnswer[]): void {
    const batch = posted.splice(0, answers.length);
    if (batch.length > 0) onBatch?.(batch.length, performance.now() - postedAt);
    for (const [index, entry] of batch.entries()) {
      const answer = answers[index];
      if (answer === undefined || answer === null) continue;
      if (answer.ok) {
        recovered();
        entry.resolve(answer.result);
      } else fail(entry, unpackError(answer.error));
    }
    goOn();
  }

  /** The posted batch gets no answer; `mayBeWritten` says whether a database received it. */
  function lost(cause: unknown, mayBeWritten: boolean): void {
    const Kind = mayBeWritten ? LedgerSilent : LedgerUnavailable;
    const error = new Kind('The ledger did not answer.', { cause });
    for (const entry of posted.splice(0)) fail(entry, error);
    goOn();
  }

  function goOn(): void {
    if (waiting.length > 0) flushSoon();
    else if (posted.length === 0) onIdle();
  }

  function fail(entry: WaitingCommand, error: Error): void {
    const unavailable = error instanceof LedgerUnavailable;
    if (unavailable) retryLater();
    else recovered();
    const isPromised = promisedFor(entry.request) !== undefined;
    if (unavailable && isPromised) kept.push(entry);
    else entry.reject(error);
    const isRefused = unavailable && !reported && entry.request.name === 'hold';
    const isTrouble = isPromised ? !isExpected(entry, unavailable) : isRefused;
    if (!isTrouble || !('requestId' in entry.request.command)) return;
    entry.kept = isPromised;
    reported ||= unavailable;
    const kind = isPromised ? (unavailable ? 'kept' : 'given_up') : 'refused';
    onTrouble({ kind, requestId: entry.request.command.requestId, cause: error.cause ?? error });
  }

  function recovered(): void {
    failing = false;
    reported = false;
    retries.reset();
  }

  function retryLater(): void {
    failing = true;
    if (retryTimer !== undefined || closing) return;
    retryTimer = setTimeout(retry, retries.next());
  }

  /** Where nothing was kept, the next command tests whether the disk is back. */
  function retry(): void {
    retryTimer = undefined;
    failing = kept.length > 0;
    waiting.unshift(...kept.splice(0));
    if (waiting.length > 0) flushSoon();
  }

  async function close(): Promise<number> {
    closing = true;
    clearTimeout(retryTimer);
    retryTimer = undefined;
    waiting.unshift(...kept.splice(0));
    if (waiting.length > 0) flush();
    const untilMs = performance.now() + CLOSE_MS;
    // The answer to one command may trigger its caller's next one.
    while (pending() > kept.length && performance.now() < untilMs) await idle(untilMs);
    const error = new LedgerUnavailable('The ledger was closed before the disk was back.');
    for (const entry of kept) entry.reject(error);
    if (posted.length === 0) stopLooking();
    closing = false;
    return pending();
  }

  function idle(untilMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, untilMs - performance.now());
      onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const ledger: Ledger = {
    hold: (command) => submit({ name: 'hold', command }),
    extend: (command) => submit({ name: 'extend', command }),
    checkpoint: (command) => submit({ name: 'checkpoint', command }),
    settle: (command) => submit({ name: 'settle', command }),
    release: (command) => submit({ name: 'release', command }),
    recover(command) {
      // These have an end in the queue already, which recovery must not replace.
      const ends = [...waiting, ...posted, ...kept].flatMap(
        ({ request }) => promisedFor(request) ?? [],
      );
      const live = [...command.live, ...ends];
      return submit({ name: 'recover', command: { ...command, live } });
    },
    credit: (command) => submit({ name: 'credit', command }),
    redeem: (command) => submit({ name: 'redeem', command }),
    budget: (command) => submit({ name: 'budget', command }),
    pending,
    close,
  };
  /** Requests whose hold, or its end, is not on disk yet. */
  const unwritten = (): string[] =>
    [...waiting, ...posted, ...kept].flatMap(({ request }) =>
      request.name === 'hold' ? request.command.requestId : (promisedFor(request) ?? []),
    );
  return { ledger, decided, written, lost, failing: (): boolean => failing, unwritten };
}
