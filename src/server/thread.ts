// Starts threads beside requests. The runtime ends the process where a new thread finds no file
// descriptor, and clients may have taken nearly all of them: then no thread starts.

import type { Awaitable } from '../async/awaitable.ts';
import { hasDescriptorsToSpare, ownDescriptors } from '../upstream/descriptors.ts';
import type { ThreadReply } from './serve-thread.ts';

/** A thread that does one piece of work. */
export type AskedThread<Answer> = {
  /** Rejects if the thread does not start, fails or ends. Never settles after `stop`. */
  readonly answer: Promise<Answer>;
  readonly stop: () => void;
};

export type AskOptions = {
  readonly onLine?: (text: string) => void;
  /** Replaces the default in tests. */
  readonly start?: typeof startThread | undefined;
};

/** `file` is an entry point of the build; `request` is called once the thread has been started. */
export function askThread<Asked, Answer>(
  file: string,
  request: () => Awaitable<Asked>,
  { onLine = () => undefined, start = startThread }: AskOptions = {},
): AskedThread<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let thread: Worker | undefined;

  async function ask(): Promise<void> {
    thread = start(file);
    thread.onmessage = ({ data }: MessageEvent<ThreadReply<Answer>>) => {
      if (data.kind === 'line') onLine(data.text);
      else if (data.kind === 'answer') resolve(data.answer);
      else reject(new Error(data.cause));
    };
    thread.onerror = ({ message }) => reject(new Error(message));
    thread.addEventListener('close', () => reject(new Error('its thread has ended')));
    thread.postMessage(await request());
  }

  ask().catch(reject);
  return {
    answer: promise.finally(() => thread?.terminate()),
    stop() {
      // Locked to a promise that stays open, the answer ignores what happens later.
      resolve(new Promise(() => {}));
      thread?.terminate();
    },
  };
}

/** Read here, because reading the limit takes a descriptor itself. */
const OWN = ownDescriptors();

/** The build puts threads beside the program, so the path is the same in both. */
export function startThread(file: string): Worker {
  if (hasDescriptorsToSpare(OWN)) return new Worker(new URL(file, import.meta.url).href);
  throw new Error(
    'nearly all file descriptors are in use. Close connections, or raise the limit (ulimit -n)',
  );
}
