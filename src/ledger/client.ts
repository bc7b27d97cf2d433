// The ledger as a server uses it: a queue in front of the ledger's thread, connected by a port. The
// thread may die and be restarted; accepted commands stay in the queue.

import type { WriterClient } from '../store/writer/client.ts';
import { type AnswerKind, answers } from './answers.ts';
import type { Ledger } from './contract.ts';
import { FieldReader, FieldWriter } from './fields.ts';
import { commands } from './protocol.ts';
import { createQueue, type QueueOptions } from './queue.ts';
import type { LedgerRequest } from './writer.ts';

/** Why the ledger rejects new commands; absent where it accepts them. */
export type LedgerProblem = 'stopped' | 'failing' | undefined;

export type ServingLedger = Ledger & {
  readonly problem: () => LedgerProblem;
  /** Requests whose hold, or its end, is not on disk yet: the books lag behind for them. */
  readonly unwritten: () => string[];
};

export type LedgerClientOptions = Pick<
  QueueOptions,
  'onTrouble' | 'onBatch' | 'bookingMs' | 'turnMs'
> & {
  /** The domains' writer, which is connected to the same thread. */
  readonly writer?: Pick<WriterClient, 'link' | 'unlink'>;
};

export function createLedgerClient(options: LedgerClientOptions) {
  const { writer } = options;
  let port: MessagePort | undefined;
  let writing = new FieldWriter();
  let posted: readonly LedgerRequest[] = [];
  const queue = createQueue({
    ...options,
    post(batch) {
      if (port === undefined) {
        queue.lost(new Error('The thread of the ledger has stopped.'), false);
      } else {
        posted = batch;
        commands(writing, batch);
        port.postMessage(writing.take());
      }
    },
  });
  return {
    ...queue.ledger,
    /** Writes commands through this port from now on, and the domains' writes through `writerPort`. */
    link(next: MessagePort, writerPort: MessagePort): void {
      port = next;
      writing = new FieldWriter();
      const reading = new FieldReader();
      next.onmessage = ({ data }) => {
        reading.open(data);
        const kind = reading.name<AnswerKind>();
        queue[kind](answers(reading, posted, []));
      };
      writer?.link(writerPort);
    },
    /** The other end is gone; `mayBeWritten` says whether posted commands may have been written. */
    unlink(cause: unknown, mayBeWritten: boolean): void {
      port?.close();
      port = undefined;
      queue.lost(cause, mayBeWritten);
      writer?.unlink();
    },
    problem(): LedgerProblem {
      if (port === undefined) return 'stopped';
      return queue.failing() ? 'failing' : undefined;
    },
    unwritten: queue.unwritten,
    async close(): Promise<number> {
      const left = await queue.ledger.close();
      port?.close();
      port = undefined;
      return left;
    },
  };
}
