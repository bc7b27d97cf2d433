// A thread that says what a server thread says and serves nobody. What it shall do wrong is in the
// name of its directory: `dies` after it listens, `never listens`; and `look` makes it hang.

import {
  type FromServerThread,
  NO_LOAD,
  type ToServerThread,
} from '../../../src/server/threads/protocol.ts';

declare const self: Worker;

const post = (message: FromServerThread): void => self.postMessage(message);

self.onmessage = ({ data }: MessageEvent<ToServerThread>) => {
  switch (data.kind) {
    case 'start':
      if (data.start.directory === 'never listens') throw new Error('There is no such address.');
      post({ kind: 'listening', port: 1_000 + data.start.thread });
      setInterval(() => post({ kind: 'events', events: [], load: NO_LOAD }), 20);
      if (data.start.directory === 'dies') setTimeout(fail, 1);
      break;
    case 'look':
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      break;
    case 'ask':
      post({ kind: 'status', load: NO_LOAD, live: { requests: [], unwritten: [], claims: [] } });
      break;
    case 'drain':
      post({ kind: 'drained', unsettled: 0 });
      break;
  }
};

function fail(): never {
  throw new Error('It has died of something.');
}
