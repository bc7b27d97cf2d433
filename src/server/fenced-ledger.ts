// The ledger of a server as one of several nodes: what it holds says which start of a node made it, so
// that others can end it when that node is evicted. Made by serve.

import type { ServingLedger } from '../ledger/client.ts';
import { LedgerRefusal, LedgerUnavailable } from '../ledger/error.ts';

/**
 * The same ledger, which holds nothing for a node that the others may evict: they would end
 * it while its request goes on. Such a hold is answered like one that cannot be written, and no
 * stream begins.
 */
export function createFencedLedger<Own extends ServingLedger>(
  ledger: Own,
  node: {
    readonly incarnation: () => string;
    readonly isFenced: () => boolean;
    /** Called with each request whose bill goes into a database that this node may no longer use. */
    readonly onUnbooked: ((requestId: string) => void) | undefined;
  },
): Own {
  return {
    ...ledger,
    settle(command) {
      if (node.isFenced()) node.onUnbooked?.(command.requestId);
      return ledger.settle(command);
    },
    checkpoint: (command) =>
      node.isFenced()
        ? Promise.reject(new LedgerRefusal('This node is fenced, and delivers nothing.'))
        : ledger.checkpoint(command),
    hold: (command) =>
      node.isFenced()
        ? Promise.reject(new LedgerUnavailable('This node is fenced, and holds nothing.'))
        : ledger.hold({ ...command, boot: node.incarnation() }),
  };
}
