// One server thread as the main thread has it: what it has said of itself, who waits for its next
// word, and how long it has been silent. Started and ended by `pool.ts`.

import {
  type FromServerThread,
  NO_LOAD,
  type ThreadLoad,
  type ThreadStart,
  type ToServerThread,
} from './protocol.ts';
import { createSilence } from './silence.ts';

export type ServerThread = {
  readonly number: number;
  readonly tell: (message: ToServerThread, transfer?: MessagePort[]) => void;
  /** What it says next of a kind; undefined where it dies instead. */
  readonly heard: (kind: FromServerThread['kind']) => Promise<FromServerThread | undefined>;
  /** What it has under way, as it said last. */
  readonly load: () => ThreadLoad;
  readonly isListening: () => boolean;
  /** Until when everything has taken effect in it. */
  readonly seenAt: () => number;
  /** The commands that it could not write; undefined before it has drained. */
  readonly unsettled: () => number | undefined;
  /** How long it has been silent, in milliseconds; asked several times a second. */
  readonly silentMs: () => number;
  /** Ends it, whatever it does. `cause` is why it died. */
  readonly terminate: (cause?: Error) => void;
};

export type OneThreadOptions = {
  readonly start: ThreadStart;
  readonly startWorker: () => Worker;
  /** Milliseconds of a clock that never jumps: all threads agree on this one. */
  readonly monotonic: () => number;
  /** Told of all that it says, before whoever waits for it. */
  readonly onSaid: (said: FromServerThread) => void;
  /** It has died, or was ended. `servedMs` is for how long it had listened. */
  readonly onClose: (cause: Error | undefined, servedMs: number) => void;
};

export function startServerThread(options: OneThreadOptions): ServerThread {
  const { start, startWorker, monotonic, onSaid, onClose } = options;
  const worker = startWorker();
  const silence = createSilence();
  /** Who waits for something that it says, or for its death; undefined once it is dead. */
  let waiting: Map<FromServerThread['kind'], ((said?: FromServerThread) => void)[]> | undefined =
    new Map();
  let load = NO_LOAD;
  let listeningSince: number | undefined;
  let seenAt = 0;
  let unsettled: number | undefined;
  let deathCause: Error | undefined;
  let isEnded = false;

  function tell(message: ToServerThread, transfer: MessagePort[] = []): void {
    if (!isEnded) worker.postMessage(message, transfer);
  }

  function hear(said: FromServerThread): void {
    silence.heard(monotonic());
    if (said.kind === 'time') tell({ kind: 'time', nowMs: monotonic() });
    else if (said.kind === 'listening') listeningSince = monotonic();
    else if (said.kind === 'seen') seenAt = said.atMs;
    else if (said.kind === 'drained') unsettled = said.unsettled;
    else load = said.load;
    onSaid(said);
    const waiters = waiting?.get(said.kind) ?? [];
    waiting?.delete(said.kind);
    for (const resolve of waiters) resolve(said);
  }

  worker.onmessage = ({ data }: MessageEvent<FromServerThread>) => hear(data);
  worker.onerror = ({ message }) => {
    // The runtime prints the source around the error into its message; its own line will do.
    deathCause = new Error(/^\w*error: .*$/im.exec(message)?.[0] ?? message);
  };
  worker.addEventListener('close', () => {
    isEnded = true;
    const left = [...(waiting?.values() ?? [])].flat();
    waiting = undefined;
    for (const resolve of left) resolve();
    onClose(deathCause, listeningSince === undefined ? 0 : monotonic() - listeningSince);
  });
  tell({ kind: 'start', start });
  return {
    number: start.thread,
    tell,
    heard: (kind) =>
      new Promise((resolve) => {
        if (waiting === undefined) resolve(undefined);
        else waiting.set(kind, [...(waiting.get(kind) ?? []), resolve]);
      }),
    load: () => load,
    isListening: () => listeningSince !== undefined,
    seenAt: () => seenAt,
    unsettled: () => unsettled,
    silentMs: () => silence.look(monotonic()),
    terminate(cause) {
      if (isEnded) return;
      isEnded = true;
      deathCause ??= cause;
      worker.terminate();
    },
  };
}
