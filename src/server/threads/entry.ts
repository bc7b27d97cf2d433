// A server thread: everything between a client and its upstream, over connections of its own, on the
// port that all of them share. The money goes through the ledger's thread and the limits through
// shared memory; what is not of one request alone is the main thread's, which started this
// (`pool.ts`). An entry point of the build.

import type { FromServerThread, ToServerThread } from './protocol.ts';
import { serveThread } from './worker.ts';

declare const self: Worker;

const post = (message: FromServerThread): void => self.postMessage(message);

let hear: ReturnType<typeof serveThread> | undefined;

// An error that nobody catches ends the thread; the main thread starts another one.
self.onmessage = ({ data }: MessageEvent<ToServerThread>) => {
  if (data.kind === 'start') hear = serveThread(data.start, post);
  else hear?.(data);
};
