// Wraps the ledger of a node in a cluster: tags each hold with the node's incarnation, so that
// other nodes can end the holds of an evicted node.

import type { ServingLedger } from '../ledger/client.ts';
import { LedgerRefusal, LedgerUnavailable } from '../ledger/error.ts';

/**
 * Refuses new holds once the other nodes may evict this one: they would end the hold while its
 * request still runs. The refusal looks like a failed write, so no stream begins.
 */
export function createFencedLedger<Own extends ServingLedger>(
  ledger: Own,
  node: {
    readonly incarnation: () => string;
    readonly isFenced: () => boolean;
    /** Called with each request whose bill goes to a database that this node may no longer use. */
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
