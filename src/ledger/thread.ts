// The thread of the ledger: opens its own connection, writes each posted batch and answers it.
// Started by `remote.ts`, which handles its death; an entry point of the build. On SQLite it also
// writes for the domains, over a second connection: a file has only one writer at a time anyway.

import { messageOf } from '../core/message-of.ts';
import { connectDatabase } from '../store/connect.ts';
import type { SyncMode } from '../store/contract.ts';
import { openDatabase, type SqliteDatabase } from '../store/database.ts';
import { serveWriter } from '../store/writer/host.ts';
import { type AnswerKind, answers, type SentAnswer } from './answers.ts';
import { FieldReader, FieldWriter } from './fields.ts';
import { commands } from './protocol.ts';
import { catchUp } from './series/catch-up.ts';
import { createRollUp, type RollUp } from './series/roll-up.ts';
import { createWriter, type Writer } from './writer.ts';

/** Posted to the thread: first the database to open, finally the request to close. */
export type ToThread =
  /** Batches arrive and are answered through `port`; `writer` serves the domains. */
  | {
      readonly kind: 'open';
      readonly url: string;
      readonly sync: SyncMode;
      readonly port: MessagePort;
      readonly writer: MessagePort;
    }
  /** Aggregates new usage records; answered with `AddedUp`. */
  | { readonly kind: 'add up' }
  /** Collects the garbage of the thread, whose heap is its own. */
  | { readonly kind: 'collect' }
  /** Collects it, and drops compiled code. */
  | { readonly kind: 'shrink' }
  | { readonly kind: 'close' };

/** Posted back. */
export type FromThread =
  /** The database is open. */
  | { readonly kind: 'open' }
  /** The series include all records; `problem` says why they do not. */
  | { readonly kind: 'added up'; readonly problem?: string };

type Opened = {
  readonly write: Writer;
  /** The connection for the domains' writes; opened on first use. */
  readonly domains: () => SqliteDatabase;
  readonly addUp: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** The ledger waits for a step, and gets the database in each pause. */
const ADD_UP_STEP = { stepMs: 3, pauseMs: 5 };

/** How long the ledger lets transactions of the domains go first, in milliseconds. */
const PATIENCE_MS = 20;

declare const self: Worker;

let opened: Opened | undefined;

// An uncaught error ends the thread, and with it this opening and everything posted.
self.onmessage = async ({ data }: MessageEvent<ToThread>) => {
  if (data.kind === 'open') {
    opened = open(data.url, data.sync);
    serve(opened, data.port);
    serveWriter(data.writer, opened.domains);
    answer({ kind: 'open' });
  } else if (data.kind === 'add up') {
    answer(await addUp());
  } else if (data.kind === 'collect') {
    Bun.gc(true);
  } else if (data.kind === 'shrink') {
    Bun.shrink();
  } else {
    await opened?.close();
    process.exit(0);
  }
};

const answer = (message: FromThread): void => self.postMessage(message);

function open(url: string, sync: SyncMode): Opened {
  const database = connectDatabase({ url, sync, patienceMs: PATIENCE_MS, byIndex: true });
  let domains: SqliteDatabase | undefined;
  let rollUp: RollUp | undefined;
  let isStopped = false;
  const openDomains = (): SqliteDatabase => {
    // Only the ledger checkpoints the log, because that waits for the disk.
    domains ??= openDatabase({ url, sync: 'normal', checkpoints: false });
    return domains;
  };
  return {
    write: createWriter(database),
    domains: openDomains,
    async addUp() {
      // Uses the ledger's own connection: the commit of another one would invalidate its cache.
      rollUp ??= createRollUp({ ...database, concurrently: database.quickly });
      const monotonic = () => performance.now();
      await catchUp(rollUp, { ...ADD_UP_STEP, monotonic, isStopped: () => isStopped });
    },
    async close() {
      isStopped = true;
      await domains?.close();
      await database.close();
    },
  };
}

async function addUp(): Promise<FromThread> {
  try {
    await opened?.addUp();
    return { kind: 'added up' };
  } catch (cause) {
    const problem = messageOf(cause);
    return { kind: 'added up', problem };
  }
}

function serve({ write }: Opened, port: MessagePort): void {
  const reading = new FieldReader();
  const writing = new FieldWriter();
  // An error here ends the thread.
  port.onmessage = async ({ data }) => {
    reading.open(data);
    const batch = commands(reading, []);
    const say = (kind: AnswerKind, given: readonly SentAnswer[]): void => {
      writing.name(kind);
      answers(writing, batch, given);
      port.postMessage(writing.take());
    };
    const written = await write(batch, (decided) => {
      const holds = batch.map(({ name }, index) =>
        name === 'hold' ? (decided[index] ?? null) : null,
      );
      if (holds.some((answer) => answer !== null)) say('decided', holds);
    });
    say('written', written);
  };
}
