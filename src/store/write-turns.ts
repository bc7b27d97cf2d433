// Serializes writers to a SQLite file among all connections of this thread. SQLite would block the
// whole thread for the second writer, and the first one, whose transaction is open there, could
// never finish. Other threads and processes may block that way: the holder continues.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Awaitable } from '../async/awaitable.ts';

export type Turns = {
  /** The task that writes now; no other of this thread may. */
  writer: object | undefined;
  /** Does the work of the writer. */
  readonly within: <T>(writer: object, work: () => T) => T;
  /** Whether this task is part of the writer's work, on any connection. */
  readonly isWriting: () => boolean;
  /**
   * Calls `go` once it may write, in the order of the calls; after `patienceMs`, before earlier
   * callers. `go` must not start another turn itself.
   */
  readonly wait: <T>(mayGo: () => boolean, go: () => T, patienceMs?: number) => Awaitable<T>;
  /** Call it after a transaction: starts every task that may run now. */
  readonly goOn: () => void;
};

type Waiting = {
  readonly mayGo: () => boolean;
  readonly go: () => void;
  /** The monotonic time from which it goes first, in milliseconds. */
  readonly firstFrom: number;
};

/** SQLite locks the file, so all connections to a path share their turns. */
const turnsByPath = new Map<string, { readonly turns: Turns; connections: number }>();

/** Adds a connection to a file; call `leave` when it is closed. */
export function joinTurns(path: string): { readonly turns: Turns; readonly leave: () => void } {
  const known = turnsByPath.get(path) ?? { turns: createTurns(), connections: 0 };
  known.connections += 1;
  turnsByPath.set(path, known);
  return {
    turns: known.turns,
    leave() {
      known.connections -= 1;
      if (known.connections === 0) turnsByPath.delete(path);
    },
  };
}

function createTurns(): Turns {
  const current = new AsyncLocalStorage<object>();
  let waiting: Waiting[] = [];
  const turns: Turns = {
    writer: undefined,
    within: (writer, work) => current.run(writer, work),
    isWriting: () => turns.writer !== undefined && current.getStore() === turns.writer,
    wait: (mayGo, go, patienceMs = Infinity) =>
      new Promise((resolve, reject) => {
        waiting.push({
          mayGo,
          firstFrom: performance.now() + patienceMs,
          go() {
            try {
              resolve(go());
            } catch (cause) {
              reject(cause);
            }
          },
        });
      }),
    goOn() {
      // A task that begins a transaction blocks those behind it.
      const now = performance.now();
      const isFirst = ({ firstFrom }: Waiting): boolean => firstFrom <= now;
      const asked = waiting.some(isFirst)
        ? [...waiting.filter(isFirst), ...waiting.filter((each) => !isFirst(each))]
        : waiting;
      waiting = [];
      for (const each of asked) {
        if (each.mayGo()) each.go();
        else waiting.push(each);
      }
    },
  };
  return turns;
}
