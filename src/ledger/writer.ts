// Where commands become transactions: takes a batch and answers each of its requests, in order, once
// the batch is on disk; one batch after the other. Runs wherever the ledger's connection is: in the
// thread of a server (`thread.ts`), or in the process of a command or a test (`ledger.ts`).

import type { Awaitable } from '../core/awaitable.ts';
import type { Database } from '../store/database.ts';
import { isStoreFailure } from '../store/error.ts';
import { type Commands, createCommands } from './commands.ts';
import type { Ledger } from './contract.ts';
import { LedgerUnavailable, type PackedError, packError } from './error.ts';
import { prepareStatements } from './statements.ts';

export type RequestName = Exclude<keyof Ledger, 'pending' | 'close'>;

/** One command for the ledger, as plain data. */
export type Request = {
  [Name in RequestName]: { readonly name: Name; readonly command: Parameters<Ledger[Name]>[0] };
}[RequestName];

/** What became of one request, as plain data. */
export type Answer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: PackedError };

export type Writer = (batch: readonly Request[]) => Promise<readonly Answer[]>;

/** Bounds how long one transaction keeps everybody else waiting. */
export const BATCH_MAX = 256;

/** `database` is open and migrated. */
export function createWriter(database: Database): Writer {
  const commands = createCommands(prepareStatements(database), database.savepoint);

  const apply = async (request: Request): Promise<Answer> => {
    return { ok: true, result: await perform(commands, request) };
  };

  /** A command that is refused takes back what it wrote, and the others stay. */
  async function applyAlone(request: Request): Promise<Answer> {
    try {
      return await database.savepoint(() => apply(request));
    } catch (cause) {
      commands.forget();
      if (isStoreFailure(cause)) throw cause;
      return { ok: false, error: packError(cause) };
    }
  }

  async function write(batch: readonly Request[], one: typeof apply): Promise<readonly Answer[]> {
    return database.transaction(async () => {
      commands.begin();
      const answers: Answer[] = [];
      for (const request of batch) answers.push(await one(request));
      return answers;
    });
  }

  async function writeWhole(batch: readonly Request[]): Promise<readonly Answer[]> {
    try {
      return await write(batch, apply);
    } catch (cause) {
      commands.forget();
      if (isStoreFailure(cause)) return unavailable(batch, cause);
    }
    // Refusals are rare, so only a batch that has one pays for keeping its commands apart.
    try {
      return await write(batch, applyAlone);
    } catch (cause) {
      commands.forget();
      return unavailable(batch, cause);
    }
  }

  /** What is known of the books belongs to one batch at a time, until it is written or undone. */
  let last: Promise<unknown> = Promise.resolve();
  return (batch) => {
    const written = last.then(() => writeWhole(batch));
    last = written;
    return written;
  };
}

function unavailable(batch: readonly Request[], cause: unknown): readonly Answer[] {
  const error = packError(new LedgerUnavailable('The ledger could not be written.', { cause }));
  return batch.map(() => ({ ok: false, error }));
}

function perform(commands: Commands, request: Request): Awaitable<unknown> {
  switch (request.name) {
    case 'hold':
      return commands.hold(request.command);
    case 'dispatch':
      return commands.dispatch(request.command);
    case 'extend':
      return commands.extend(request.command);
    case 'checkpoint':
      return commands.checkpoint(request.command);
    case 'settle':
      return commands.settle(request.command);
    case 'release':
      return commands.release(request.command);
    case 'recover':
      return commands.recover(request.command);
    case 'credit':
      return commands.credit(request.command);
    case 'redeem':
      return commands.redeem(request.command);
  }
}
