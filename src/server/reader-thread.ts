// The thread that reads for pages, over a connection of its own that cannot write. Speaks the protocol
// of the writing thread: a transaction is a snapshot. Started by `store/reader.ts`; an entry point of
// the build.

import { openDatabase } from '../store/database.ts';
import type { ReadRequest } from '../store/reader.ts';
import { serveWriter } from '../store/writer/host.ts';

declare const self: Worker;

self.onmessage = ({ data: { url, port } }: MessageEvent<ReadRequest>) => {
  const database = openDatabase({ url, sync: 'normal', readonly: true, waits: false });
  serveWriter(port, () => ({
    ask: database.ask,
    transactionAs: (_, work) => database.snapshot(work),
  }));
};
