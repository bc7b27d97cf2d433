// Where commands become transactions: takes a batch and answers each of its requests, in order, once
// the batch is on disk; one batch after the other. Runs wherever the ledger's connection is: in the
// thread of a server (`thread.ts`), or in the process of a command or a test (`ledger.ts`).

import { createSerialize } from '../async/serialize.ts';
import type { Database } from '../store/contract.ts';
import { isDeadlock, isStoreFailure, isUnknownOutcome } from '../store/error.ts';
import { type BatchFacts, createLockBatch } from './batch-facts.ts';
import { createCommands } from './commands.ts';
import type { CommandTypes, LedgerRequest } from './contract.ts';
import { LedgerSilent, LedgerUnavailable, type PackedError, packError } from './error.ts';
import { prepareStatements } from './statements.ts';

export type { LedgerRequest } from './contract.ts';

/** What became of one request, as plain data. */
export type LedgerAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: PackedError };

export type Writer = (batch: readonly LedgerRequest[]) => Promise<readonly LedgerAnswer[]>;

/** Bounds how long one transaction keeps all others waiting. */
export const BATCH_MAX = 256;

/** A commit of unknown outcome, and a deadlock, are resolved by writing once more. */
const TRIES_MAX = 4;
const RETRY_MS = 100;

/** `database` is open and migrated. */
export function createWriter(database: Database): Writer {
  const statements = prepareStatements(database);
  const commands = createCommands(statements, database.savepoint);
  const performers: Performers = commands;
  const lock =
    database.isolation === 'row locks' ? createLockBatch(database, statements) : undefined;

  const apply = async <Name extends keyof CommandTypes>({
    name,
    command,
  }: LedgerRequest<Name>): Promise<LedgerAnswer> => ({
    ok: true,
    result: await performers[name](command),
  });

  /** A command that is refused takes back what it wrote, and the others stay. */
  async function applyAlone(request: LedgerRequest): Promise<LedgerAnswer> {
    try {
      return await database.savepoint(() => apply(request));
    } catch (cause) {
      commands.forget();
      if (isStoreFailure(cause)) throw cause;
      return { ok: false, error: packError(cause) };
    }
  }

  /** SQLite has one writer, and answers at once: one command after the other. */
  async function performInTurn(
    batch: readonly LedgerRequest[],
    one: (request: LedgerRequest) => Promise<LedgerAnswer>,
  ): Promise<LedgerAnswer[]> {
    const answers: LedgerAnswer[] = [];
    for (const request of batch) answers.push(await one(request));
    return answers;
  }

  /** The commands of one account keep their order; those of others travel beside them. */
  async function performTogether(
    batch: readonly LedgerRequest[],
    facts: BatchFacts,
  ): Promise<readonly LedgerAnswer[]> {
    const answers: LedgerAnswer[] = [];
    const lines = linesOf(batch, facts).map(async (line) => {
      for (const [index, request] of line) answers[index] = await apply(request);
    });
    // All of them come to an end before the transaction does: what is late would be written alone.
    const ends = await Promise.allSettled(lines);
    const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    if (failures.length > 0) throw failures.find(isStoreFailure) ?? failures[0];
    return answers;
  }

  function write(
    batch: readonly LedgerRequest[],
    isWhole: boolean,
  ): Promise<readonly LedgerAnswer[]> {
    return database.concurrently(async () => {
      const facts = await lock?.(batch);
      commands.begin(facts);
      if (!isWhole) return performInTurn(batch, applyAlone);
      if (facts === undefined) return performInTurn(batch, apply);
      await commands.announce(batch);
      return performTogether(batch, facts);
    });
  }

  /**
   * The same commands again say what became of a commit: each is booked once, by its id. Where that
   * cannot be found out, it stays unknown, also where a later try fails.
   */
  async function writeSurely(batch: readonly LedgerRequest[]): Promise<readonly LedgerAnswer[]> {
    let isWhole = true;
    let unknown: unknown;
    for (let tries = 1; ; ) {
      try {
        return await write(batch, isWhole);
      } catch (cause) {
        commands.forget();
        if (isUnknownOutcome(cause)) unknown = cause;
        if (isWhole && !isStoreFailure(cause)) {
          // Refusals are rare, so only a batch that has one pays for keeping its commands apart.
          isWhole = false;
          continue;
        }
        const isWorthMore = isUnknownOutcome(cause) || isDeadlock(cause);
        if (!isWorthMore || tries === TRIES_MAX) return unavailable(batch, unknown ?? cause);
        await Bun.sleep(tries * RETRY_MS);
        tries += 1;
      }
    }
  }

  /** What is known of the books belongs to one batch at a time, until it is written or undone. */
  const inTurn = createSerialize();
  return (batch) => inTurn(() => writeSurely(batch));
}

function unavailable(batch: readonly LedgerRequest[], cause: unknown): readonly LedgerAnswer[] {
  const error = packError(
    isUnknownOutcome(cause)
      ? new LedgerSilent('The database has not said whether the ledger was written.', { cause })
      : new LedgerUnavailable('The ledger could not be written.', { cause }),
  );
  return batch.map(() => ({ ok: false, error }));
}

type Performers = {
  readonly [Name in keyof CommandTypes]: (command: CommandTypes[Name]) => Promise<unknown>;
};

type Line = (readonly [index: number, request: LedgerRequest])[];

/** Of each account its commands, with their places in the batch. */
function linesOf(batch: readonly LedgerRequest[], facts: BatchFacts): readonly Line[] {
  // A hold that begins in this batch has an owner too, for what follows it.
  const owners = new Map(facts.owners);
  let isMixed = false;
  for (const { name, command } of batch) {
    if (name === 'recover') isMixed = true;
    if (name !== 'hold') continue;
    const owner = owners.get(command.requestId) ?? command.accountId;
    if (owner !== command.accountId) isMixed = true;
    owners.set(command.requestId, owner);
  }
  // A recovery is of many accounts, and so is a request that is said to be of two.
  if (isMixed) return [[...batch.entries()]];
  const lines = new Map<string, Line>();
  for (const [index, request] of batch.entries()) {
    const owner = ownerOf(request, owners);
    const line = lines.get(owner);
    if (line === undefined) lines.set(owner, [[index, request]]);
    else line.push([index, request]);
  }
  return [...lines.values()];
}

function ownerOf({ command }: LedgerRequest, owners: ReadonlyMap<string, string>): string {
  if ('accountId' in command) return command.accountId;
  return 'requestId' in command ? (owners.get(command.requestId) ?? command.requestId) : '';
}
