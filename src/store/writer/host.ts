// The writing side: runs the main thread's transactions over its own connection. Runs in the
// ledger's thread, so that both take turns in JavaScript instead of polling for SQLite's lock. No
// error of a transaction ends this thread: all of them are answered.

import type { SqliteDatabase } from '../database.ts';
import {
  begin,
  type FromWriter,
  isAbandoned,
  packFailure,
  type ToWriter,
  type WriterAnswer,
  type WriterStep,
} from './protocol.ts';

/** Thrown into a transaction that its client abandons. */
const UNDONE = new Error('The client undid its transaction.');

/** What runs the transactions. */
type Host = Pick<SqliteDatabase, 'ask' | 'transactionAs'>;

/** Calls `open` at the first transaction. */
export function serveWriter(port: MessagePort, open: () => Host): void {
  const transactions = new Map<number, Steps>();

  async function run(transaction: number, steps: Steps): Promise<void> {
    const answers: WriterAnswer[] = [];
    const post = (): void => {
      if (answers.length === 0) return;
      port.postMessage({ transaction, answers: answers.splice(0) } satisfies FromWriter);
    };
    steps.onWait = post;
    try {
      await carryOut(steps, open, answers);
    } catch (cause) {
      if (cause !== UNDONE) answers.push(failed(cause));
    }
    transactions.delete(transaction);
    post();
  }

  port.onmessage = ({ data }) => {
    const { transaction, steps }: ToWriter = data;
    const known = transactions.get(transaction);
    if (known !== undefined) known.add(steps);
    // Steps after a failed begin belong to no transaction.
    if (known !== undefined || steps[0]?.kind !== 'begin') return;
    const started = createSteps(steps);
    transactions.set(transaction, started);
    void run(transaction, started);
  };
}

/** Throws `UNDONE`, and each error that prevents the begin or the commit. */
async function carryOut(steps: Steps, open: () => Host, answers: WriterAnswer[]): Promise<void> {
  const first = await steps.next();
  if (first.kind !== 'begin' || isAbandoned(first.permit)) throw UNDONE;
  const database = open();
  await database.transactionAs(first.sync, async () => {
    if (!begin(first.permit)) throw UNDONE;
    answers.push({ ok: true, result: undefined });
    for (;;) {
      const step = await steps.next();
      if (step.kind === 'commit') return;
      if (step.kind !== 'ask') throw UNDONE;
      try {
        answers.push({ ok: true, result: await database.ask(step.ask) });
      } catch (cause) {
        answers.push(failed(cause));
      }
    }
  });
  answers.push({ ok: true, result: undefined });
}

function failed(cause: unknown): WriterAnswer {
  return { ok: false, error: packFailure(cause) };
}

type Steps = ReturnType<typeof createSteps>;

function createSteps(first: readonly WriterStep[]) {
  const waiting = [...first];
  let resume: (step: WriterStep) => void = () => undefined;
  let isWaiting = false;
  const steps = {
    /** Called when the queue is empty. */
    onWait: (): void => undefined,
    add(more: readonly WriterStep[]): void {
      waiting.push(...more);
      if (!isWaiting) return;
      const step = waiting.shift();
      if (step === undefined) return;
      isWaiting = false;
      resume(step);
    },
    async next(): Promise<WriterStep> {
      const step = waiting.shift();
      if (step !== undefined) return step;
      steps.onWait();
      isWaiting = true;
      return new Promise((resolve) => {
        resume = resolve;
      });
    },
  };
  return steps;
}
