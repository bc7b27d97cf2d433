// The caller's side of the ledger: commands wait here until a batch of them is written, in this
// process (`ledger.ts`) or in the ledger's thread (`remote.ts`). What must not be lost stays here
// until it is on disk. A batch is what came in one turn of the event loop, or while the batch before
// it was written; no timer decides it where a caller waits.

import { createBackoff } from '../async/backoff.ts';
import { every, type Stop } from '../async/every.ts';
import type { SentAnswer } from './answers.ts';
import type { Ledger, LedgerRequest } from './contract.ts';
import { LedgerSilent, LedgerUnavailable, unpackError } from './error.ts';
import {
  isNew,
  isRefusable,
  isUnhurried,
  promisedFor,
  requireAmountOf,
  WaitingCommand,
} from './waiting.ts';
import { BATCH_MAX } from './writer.ts';

export type LedgerTrouble = {
  /** A settle or release is kept for later, or had to be given up: the ledger refuses it. */
  readonly kind: 'kept' | 'given_up';
  readonly requestId: string;
  readonly cause: unknown;
};

export type QueueOptions = {
  /** Has a batch written. The next one follows once this one is `written` or `lost`. */
  readonly post: (batch: readonly LedgerRequest[]) => void;
  /** Called once when a settle or release is kept, and when one is given up. */
  readonly onTrouble?: ((trouble: LedgerTrouble) => void) | undefined;
  /** Called for each batch that was answered: its commands, and the time from post to answer. */
  readonly onBatch?: ((size: number, durationMs: number) => void) | undefined;
  /**
   * How long the caller of a settle or release waits for the disk; absent: until it is written. It is
   * rejected with `LedgerSilent` then, and the command stays here until it is on disk.
   */
  readonly bookingMs?: number | undefined;
  /** In place of the default, for tests. */
  readonly turnMs?: number | undefined;
};

type Queue = {
  readonly ledger: Ledger;
  /** The answers to the holds of what was posted, before it is on disk. */
  readonly decided: (answers: readonly SentAnswer[]) => void;
  /** The answers to what was posted, in its order, once it is on disk. */
  readonly written: (answers: readonly SentAnswer[]) => void;
  /** What was posted gets no answer; `mayBeWritten` says whether it was given to a database. */
  readonly lost: (cause: unknown, mayBeWritten: boolean) => void;
  /** Whether the last write failed. */
  readonly failing: () => boolean;
  /** Requests whose hold, or the end of it, is not on disk yet. */
  readonly unwritten: () => string[];
};

/** Commands that may wait for the disk; above it, new promises are not made. */
export const WAITING_MAX = 10_000;

/** How long a new command waits for its turn; a database that stalls takes no more. */
const TURN_MS = 5_000;

/** How often in that time the queue looks for commands that are late. */
const LATE_LOOKS = 5;

/** How long a command without a waiting caller may wait for a batch to join: it spares a sync. */
const UNHURRIED_MS = 20;

/** For what was posted to be answered when the ledger is closed. */
const CLOSE_MS = 10_000;

export function createQueue(options: QueueOptions): Queue {
  const { post, onTrouble = () => undefined, onBatch, turnMs = TURN_MS } = options;
  const { bookingMs = Number.POSITIVE_INFINITY } = options;
  const waiting: WaitingCommand[] = [];
  const posted: WaitingCommand[] = [];
  const kept: WaitingCommand[] = [];
  /** The last waiting checkpoint of each request that no caller waits for. */
  const unhurried = new Map<string, WaitingCommand>();
  let flushing = false;
  let failing = false;
  let closing = false;
  let unhurriedTimer: Timer | undefined;
  let stopRefusing: Stop | undefined;
  const retries = createBackoff();
  let retryTimer: Timer | undefined;
  let postedAt = 0;
  let onIdle: () => void = () => undefined;

  const pending = (): number => waiting.length + posted.length + kept.length;

  /** Rejects where no command takes the amount, and where too many wait. */
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
    // The contract says what each request is answered with.
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

  /** A checkpoint that still waits when its request ends says nothing that the end does not say. */
  function supersede(requestId: string): void {
    const entry = unhurried.get(requestId);
    if (entry === undefined) return;
    unhurried.delete(requestId);
    waiting.splice(waiting.indexOf(entry), 1);
    entry.resolve(undefined);
  }

  /** One batch is on its way at a time: what comes until its answer makes the next one larger. */
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

  /** What belongs to a request under way is never too late. */
  function isLate({ request, askedAt }: WaitingCommand, nowMs: number): boolean {
    return nowMs - askedAt > turnMs && isNew(request);
  }

  function isInTime(entry: WaitingCommand, nowMs: number): boolean {
    if (!isLate(entry, nowMs)) return true;
    entry.reject(new LedgerUnavailable(`The command has waited for the disk for ${turnMs} ms.`));
    return false;
  }

  /** A batch may be with a disk that stalls, or wait for a lock, for much longer than its callers. */
  function refuseLate(): void {
    if (posted.length === 0 && kept.length === 0) stopLooking();
    const nowMs = performance.now();
    waiting.splice(0, waiting.length, ...waiting.filter((entry) => isInTime(entry, nowMs)));
    for (const entry of posted) {
      // What a dead server has left may take long to end, and a start waits for it.
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

  function decided(answers: readonly SentAnswer[]): void {
    for (const [index, entry] of posted.entries()) {
      const answer = answers[index];
      if (answer?.ok === true) entry.decide(answer.result);
    }
  }

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
    const requestId = promisedFor(entry.request);
    if (requestId === undefined || !unavailable) entry.reject(error);
    if (requestId === undefined) return;
    if (unavailable) kept.push(entry);
    if (unavailable && entry.kept) return;
    entry.kept = true;
    onTrouble({ kind: unavailable ? 'kept' : 'given_up', requestId, cause: error.cause ?? error });
  }

  function recovered(): void {
    failing = false;
    retries.reset();
  }

  function retryLater(): void {
    failing = true;
    if (retryTimer !== undefined || closing) return;
    retryTimer = setTimeout(retry, retries.next());
  }

  /** Where nothing was kept, the next command finds out whether the disk is back. */
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
    // The answer to one command may bring its caller's next one.
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
      // What waits here to be ended has an end already, and a better one.
      const ends = [...waiting, ...posted, ...kept].flatMap(
        ({ request }) => promisedFor(request) ?? [],
      );
      const live = [...command.live, ...ends];
      return submit({ name: 'recover', command: { ...command, live } });
    },
    credit: (command) => submit({ name: 'credit', command }),
    redeem: (command) => submit({ name: 'redeem', command }),
    pending,
    close,
  };
  const unwritten = (): string[] =>
    [...waiting, ...posted, ...kept].flatMap(({ request }) =>
      request.name === 'hold' ? request.command.requestId : (promisedFor(request) ?? []),
    );
  return { ledger, decided, written, lost, failing: () => failing, unwritten };
}
