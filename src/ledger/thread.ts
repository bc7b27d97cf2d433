// The thread of the ledger: opens its own connection, writes each batch that it is posted and
// answers it. Started by `remote.ts`, which says there what happens when this ends; an entry point
// of the build. Other threads of the process post batches through ports of their own. On SQLite it
// also writes for the domains, over a second connection: a file has one writer at a time anyway.

import { connectDatabase } from '../store/connect.ts';
import type { SyncMode } from '../store/contract.ts';
import { openDatabase, type SqliteDatabase } from '../store/database.ts';
import { StoreError } from '../store/error.ts';
import { type EndWriter, serveWriter } from '../store/writer/host.ts';
import { encodeAnswers, type SentAnswer } from './answers.ts';
import type { HoldResult } from './contract.ts';
import { createGroup, type Group } from './group.ts';
import { CommandDecoder } from './protocol.ts';
import { catchUp } from './series/catch-up.ts';
import { createRollUp, type RollUp } from './series/roll-up.ts';
import { createWriter, type LedgerAnswer, type LedgerRequest } from './writer.ts';

/** Posted to the thread: first what to open, then its clients, at last that it shall end. */
export type ToThread =
  | { readonly kind: 'open'; readonly url: string; readonly sync: SyncMode }
  /** Batches come through `port` and are answered there; `writer` is for the client's domains. */
  | {
      readonly kind: 'client';
      readonly client: number;
      readonly port: MessagePort;
      readonly writer: MessagePort;
    }
  /** Adds up new usage records; answered with `AddedUp`. */
  | { readonly kind: 'add up' }
  /** Nobody is left at the other end of a port. */
  | { readonly kind: 'gone'; readonly client: number }
  | { readonly kind: 'close' };

/** To a client, of its batch: the holds once they are decided, and all of it once it is on disk. */
export type ToClient = { readonly kind: 'decided' | 'written'; readonly answers: string };

/** Posted back. */
export type FromThread =
  /** The database is open. */
  | { readonly kind: 'open' }
  /** What a client that is gone had begun and did not end. */
  | {
      readonly kind: 'left behind';
      readonly client: number;
      readonly requestIds: readonly string[];
    }
  /** The series hold all records that there were; `problem` says why they do not. */
  | { readonly kind: 'added up'; readonly problem?: string };

type Opened = {
  readonly group: Group;
  /** What the domains write through; opened when it is first needed. */
  readonly domains: () => SqliteDatabase;
  readonly addUp: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** The ledger waits for a step, and has the database to itself in each pause. */
const ADD_UP_STEP = { stepMs: 3, pauseMs: 5 };

/** How long the ledger lets transactions of the domains go first, in milliseconds. */
const PATIENCE_MS = 20;

type LedgerClient = {
  readonly port: MessagePort;
  readonly endWriter: EndWriter;
  /** The requests whose hold it has and has not ended. */
  readonly open: Set<string>;
};

declare const self: Worker;

let opened: Opened | undefined;
const clients = new Map<number, LedgerClient>();

// An error that nobody catches ends the thread, and with it this opening and all that was posted.
self.onmessage = async ({ data }: MessageEvent<ToThread>) => {
  if (data.kind === 'open') {
    opened = open(data.url, data.sync);
    answer({ kind: 'open' });
  } else if (data.kind === 'client') {
    add(data.client, data.port, data.writer);
  } else if (data.kind === 'gone') {
    remove(data.client);
  } else if (data.kind === 'add up') {
    answer(await addUp());
  } else {
    await opened?.close();
    process.exit(0);
  }
};

const answer = (message: FromThread): void => self.postMessage(message);

function open(url: string, sync: SyncMode): Opened {
  const database = connectDatabase({ url, sync, patienceMs: PATIENCE_MS, byIndex: true });
  const group = createGroup(createWriter(database), () => clients.size > 1);
  let domains: SqliteDatabase | undefined;
  let rollUp: RollUp | undefined;
  let isStopped = false;
  const openDomains = (): SqliteDatabase => {
    // The ledger alone copies the log: that takes as long as the disk needs.
    domains ??= openDatabase({ url, sync: 'normal', checkpoints: false });
    return domains;
  };
  return {
    group,
    domains: openDomains,
    async addUp() {
      rollUp ??= createRollUp(openDomains());
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
    const problem = cause instanceof Error ? cause.message : String(cause);
    return { kind: 'added up', problem };
  }
}

function serveDomains(port: MessagePort): EndWriter {
  return serveWriter(port, () => {
    if (opened === undefined) throw new StoreError('The database is not open.');
    return opened.domains();
  });
}

function add(number: number, port: MessagePort, writer: MessagePort): void {
  const client: LedgerClient = { port, endWriter: serveDomains(writer), open: new Set() };
  clients.set(number, client);
  const decoder = new CommandDecoder();
  port.onmessage = ({ data }) => {
    const text: string = data;
    const batch = decoder.decode(text);
    const say = (kind: ToClient['kind'], answers: readonly SentAnswer[]): void => {
      port.postMessage({ kind, answers: encodeAnswers(batch, answers) } satisfies ToClient);
    };
    opened?.group(batch, {
      decide(answers) {
        const holds = batch.map(({ name }, index) =>
          name === 'hold' ? (answers[index] ?? null) : null,
        );
        if (holds.some((answer) => answer !== null)) say('decided', holds);
      },
      answer(answers) {
        for (const [index, request] of batch.entries()) note(client, request, answers[index]);
        say('written', answers);
      },
    });
  };
}

function note(
  client: LedgerClient,
  { name, command }: LedgerRequest,
  answer: LedgerAnswer | undefined,
): void {
  if (answer?.ok !== true) return;
  if (name === 'settle' || name === 'release') client.open.delete(command.requestId);
  // Where the balance did not suffice there is no hold.
  if (name === 'hold' && (answer.result as HoldResult).ok) client.open.add(command.requestId);
}

/** After all that it has posted is written. */
function remove(number: number): void {
  const client = clients.get(number);
  clients.delete(number);
  client?.port.close();
  client?.endWriter();
  opened?.group([], {
    decide: () => undefined,
    answer() {
      const requestIds = [...(client?.open ?? [])];
      answer({ kind: 'left behind', client: number, requestIds });
    },
  });
}
