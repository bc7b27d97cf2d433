// Whose turn it is to write to a SQLite file, among all connections of this thread. SQLite would let
// the second one wait with its whole thread, and then the first, which is in a transaction there,
// could never end it. Other threads and processes do wait in that way: their first one goes on.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Awaitable } from '../async/awaitable.ts';

export type Turns = {
  /** The task that writes now; no other of this thread may. */
  writer: object | undefined;
  /** Does the work of the writer. */
  readonly within: <T>(writer: object, work: () => T) => T;
  /** Whether this task is part of the writer's work, on whichever connection. */
  readonly isWriting: () => boolean;
  /**
   * Does `go` once it may, in the order of asking; after `patienceMs`, before those who asked earlier.
   * It must not begin anything here itself.
   */
  readonly wait: <T>(mayGo: () => boolean, go: () => T, patienceMs?: number) => Awaitable<T>;
  /** A transaction has ended: every task that may go now goes. */
  readonly goOn: () => void;
};

type Waiting = {
  readonly mayGo: () => boolean;
  readonly go: () => void;
  /** From when on it goes first, in milliseconds of a clock that never jumps. */
  readonly firstFrom: number;
};

/** A lock of SQLite's is one of the file as well, on any connection. */
const turnsByPath = new Map<string, { readonly turns: Turns; connections: number }>();

/** Joins the connections to a file; `leave` when the connection is closed. */
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
      // A task that begins a transaction makes those behind it wait on.
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
