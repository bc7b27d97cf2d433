// The ledger of a server thread: the same queue as the main thread's, in front of the same ledger's
// thread, by way of a port. The ledger's thread may die and come again; what was promised stays here.

import type { QueueOptions } from './queue.ts';
import { createQueue } from './queue.ts';
import type { LedgerClient, ServingLedger } from './remote.ts';
import type { LedgerAnswer } from './writer.ts';

type LedgerLink = Pick<LedgerClient, 'unlink'> & {
  readonly link: (port: MessagePort) => void;
};

export function createLinkedLedger(
  options: Pick<QueueOptions, 'onTrouble' | 'onBatch'>,
): ServingLedger & LedgerLink {
  let port: MessagePort | undefined;
  const queue = createQueue({
    ...options,
    post(batch) {
      if (port === undefined) {
        queue.lost(new Error('The thread of the ledger has stopped.'), false);
      } else port.postMessage(batch);
    },
  });
  return {
    ...queue.ledger,
    link(next) {
      port = next;
      next.onmessage = ({ data }) => {
        const answers: readonly LedgerAnswer[] = data;
        queue.answered(answers);
      };
    },
    unlink(cause, mayBeWritten) {
      port?.close();
      port = undefined;
      queue.lost(cause, mayBeWritten);
    },
    problem() {
      if (port === undefined) return 'stopped';
      return queue.failing() ? 'failing' : undefined;
    },
    unwritten: queue.unwritten,
    async close() {
      const left = await queue.ledger.close();
      port?.close();
      return left;
    },
  };
}
