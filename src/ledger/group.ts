// Joins what several clients of the ledger's thread have written at about the same time into one
// transaction: a sync to disk is what a batch costs. Called by the thread alone.

import { yieldToEventLoop } from '../async/yield.ts';
import { BATCH_MAX, type LedgerAnswer, type LedgerRequest, type Writer } from './writer.ts';

/** Has a batch written and answers it, in the order in which batches came. Never for two at once. */
export type Group = (batch: readonly LedgerRequest[], client: GroupClient) => void;

type GroupClient = {
  /** The transaction has decided; it is not on disk yet. */
  readonly decide: (answers: readonly LedgerAnswer[]) => void;
  readonly answer: (answers: readonly LedgerAnswer[]) => void;
};

type Waiting = { readonly batch: readonly LedgerRequest[]; readonly client: GroupClient };

/** `isShared` says whether there are others whose batch may come in the same turn. */
export function createGroup(write: Writer, isShared: () => boolean): Group {
  const waiting: Waiting[] = [];
  let writing = false;

  /** At least one, and as many more as one transaction takes. */
  function takeNext(): readonly Waiting[] {
    let size = 0;
    const count = waiting.findIndex(({ batch }, index) => {
      size += batch.length;
      return index > 0 && size > BATCH_MAX;
    });
    return waiting.splice(0, count < 0 ? waiting.length : count);
  }

  async function writeAll(): Promise<void> {
    writing = true;
    if (isShared()) await yieldToEventLoop();
    while (waiting.length > 0) {
      const group = takeNext();
      const batch = group.flatMap((each) => each.batch);
      const answers = await write(batch, (decided) => deal(group, decided, 'decide'));
      deal(group, answers, 'answer');
    }
    writing = false;
  }

  return (batch, client) => {
    waiting.push({ batch, client });
    // What it throws ends the thread.
    if (!writing) void writeAll();
  };
}

/** Gives each client its own of the answers. */
function deal(
  group: readonly Waiting[],
  answers: readonly LedgerAnswer[],
  how: keyof GroupClient,
): void {
  let from = 0;
  for (const { batch, client } of group) {
    client[how](answers.slice(from, from + batch.length));
    from += batch.length;
  }
}
