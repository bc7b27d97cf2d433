// The thread of the ledger: opens its own connection and writes what it is posted. Batching is
// natural: what arrives while a transaction waits for the disk shares the next one. Started by
// `remote.ts`, which says there what happens when this ends; an entry point of the build.

import { openDatabase, type SyncMode } from '../store/database.ts';
import { type Answer, BATCH_MAX, createWriter, type Request, type Writer } from './writer.ts';

/** Posted to the thread: first what to open, then batches, at last that it shall end. */
export type ToThread =
  | { readonly kind: 'open'; readonly url: string; readonly sync: SyncMode }
  | { readonly kind: 'write'; readonly batch: readonly Request[] }
  | { readonly kind: 'close' };

/** Posted back: the answers to what was posted first. None at all say that the database is open. */
export type FromThread = readonly Answer[];

declare const self: Worker;

const waiting: Request[] = [];
let flushing = false;
let write: Writer | undefined;
let end: () => void = () => process.exit(0);

self.onmessage = ({ data }: MessageEvent<ToThread>) => {
  if (data.kind === 'open') open(data.url, data.sync);
  else if (data.kind === 'write') enqueue(data.batch);
  else end();
};

function open(url: string, sync: SyncMode): void {
  const database = openDatabase({ url, sync });
  write = createWriter(database);
  end = () => {
    while (waiting.length > 0) flush();
    database.close();
    process.exit(0);
  };
  answer([]);
}

function enqueue(batch: readonly Request[]): void {
  waiting.push(...batch);
  if (flushing) return;
  flushing = true;
  setImmediate(flush);
}

function flush(): void {
  flushing = waiting.length > BATCH_MAX;
  if (flushing) setImmediate(flush);
  const batch = waiting.splice(0, BATCH_MAX);
  if (write !== undefined && batch.length > 0) answer(write(batch));
}

function answer(answers: FromThread): void {
  self.postMessage(answers);
}
