// The thread of the ledger: opens its own connection, writes each batch that it is posted and
// answers it. Started by `remote.ts`, which says there what happens when this ends; an entry point
// of the build.

import { connectDatabase } from '../store/connect.ts';
import type { SyncMode } from '../store/database.ts';
import { type Answer, createWriter, type Request } from './writer.ts';

/** Posted to the thread: first what to open, then batches, at last that it shall end. */
export type ToThread =
  | { readonly kind: 'open'; readonly url: string; readonly sync: SyncMode }
  | { readonly kind: 'write'; readonly batch: readonly Request[] }
  | { readonly kind: 'close' };

/** Posted back: the answers to a batch. None at all say that the database is open. */
export type FromThread = readonly Answer[];

type Opened = {
  readonly write: (batch: readonly Request[]) => Promise<FromThread>;
  readonly close: () => Promise<void>;
};

declare const self: Worker;

let opened: Opened | undefined;

// An error that nobody catches ends the thread, and with it this opening and all that was posted.
self.onmessage = async ({ data }: MessageEvent<ToThread>) => {
  if (data.kind === 'open') {
    opened = open(data.url, data.sync);
    self.postMessage([]);
  } else if (data.kind === 'close') {
    await opened?.close();
    process.exit(0);
  } else if (opened !== undefined) {
    self.postMessage(await opened.write(data.batch));
  }
};

function open(url: string, sync: SyncMode): Opened {
  const database = connectDatabase({ url, sync });
  return { write: createWriter(database), close: database.close };
}
