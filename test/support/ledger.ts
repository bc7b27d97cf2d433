// A ledger over a real file, and short forms of its commands.

import type { Usage } from '../../src/core/generation.ts';
import { micro, pico, tokenCount, usdRate } from '../../src/core/money.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { type Books, createBooks } from '../../src/ledger/books.ts';
import type {
  CreditCommand,
  HoldCommand,
  Ledger,
  PlacedHold,
  ReleaseCommand,
  SettleCommand,
} from '../../src/ledger/contract.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { Database } from '../../src/store/contract.ts';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { accounts } from '../../src/store/tables.ts';
import { newDatabase } from './database.ts';

export const NOW = 1_795_248_274_894;

export const PRICE = {
  version: 'swift-1@1',
  input: pico(150_000n),
  cachedInput: pico(30_000n),
  // Dear enough that a few tokens make any amount: see `usageCosting`.
  cacheWrite: pico(10n ** 15n),
  output: pico(600_000n),
};

export type OpenBooks<Kind extends Database = SqliteDatabase> = {
  readonly database: Kind;
  readonly ledger: Ledger;
  readonly books: Books;
};

export async function openBooks(directory: string): Promise<OpenBooks & AsyncDisposable> {
  return booksOver(await newDatabase(directory));
}

export function booksOver<Kind extends Database>(
  database: Kind,
): OpenBooks<Kind> & AsyncDisposable {
  const open = {
    database,
    ledger: onDisk(createLedger({ database })),
    books: createBooks(database),
  };
  return { ...open, [Symbol.asyncDispose]: () => closeBooks(open) };
}

export async function closeBooks({ ledger, database }: OpenBooks<Database>): Promise<void> {
  await ledger.close();
  await database.close();
}

export async function addAccount(open: OpenBooks<Database>, id: string): Promise<void> {
  await addAccounts(open, [id]);
}

/** In one transaction: thousands of their own take a minute on PostgreSQL. */
export async function addAccounts(
  { database, books }: OpenBooks<Database>,
  ids: readonly string[],
): Promise<void> {
  const facts = { plan: 'pro', planSince: NOW, standing: 'active' as const, createdAt: NOW };
  await database.transaction(async (tx) => {
    for (const id of ids) {
      const email = `${id}@example.org`;
      await tx
        .insert(accounts)
        .values({ ...facts, id, email, emailVerified: true })
        .run();
      await books.openBalance(tx, id);
    }
  });
}

/** An account with `amount` in it. */
export async function fundAccount(
  open: OpenBooks<Database>,
  id: string,
  amount: bigint,
): Promise<void> {
  await addAccount(open, id);
  if (amount > 0n) await open.ledger.credit(creditOf(`opening-${id}`, id, amount));
}

export function creditOf(creditId: string, accountId: string, amount: bigint): CreditCommand {
  return { creditId, accountId, kind: 'credit', amount: micro(amount), reason: 'test', nowMs: NOW };
}

export function holdOf(requestId: string, accountId: string, amount: bigint): HoldCommand {
  return {
    requestId,
    accountId,
    keyId: 'key_1',
    format: 'chat',
    stream: true,
    endUser: 'user-1',
    model: 'swift-1',
    price: PRICE,
    amount: micro(amount),
    promptTokens: tokenCount(100),
    outputBound: tokenCount(8_192),
    nowMs: NOW,
  };
}

export function settleOf(requestId: string, charge: bigint): SettleCommand {
  return {
    requestId,
    charge: micro(charge),
    served: { model: 'swift-1', upstream: 'demo', price: PRICE },
    outcome: 'completed',
    usage: usageCosting(charge),
    attempts: '[{"upstream":"demo","ms":12}]',
    usdPerMillion: usdRate(1_000_000n),
    nowMs: NOW + 1,
  };
}

/** Tokens that cost `charge` at `PRICE`: receipts are checked against their own arithmetic. */
function usageCosting(charge: bigint): Usage {
  const basis = 'reported';
  if (charge === 15n) {
    const prompt = { inputTokens: 90, cachedInputTokens: 40, cacheWriteTokens: 0 };
    return { ...prompt, outputTokens: 10, reasoningTokens: 5, basis };
  }
  const written = Number(charge / 1_000_000_000n);
  const rest = Number(charge % 1_000_000_000n);
  const prompt = { inputTokens: written, cachedInputTokens: 0, cacheWriteTokens: written };
  return { ...prompt, outputTokens: Math.round(rest / 0.6), reasoningTokens: 0, basis };
}

export function releaseOf(requestId: string): ReleaseCommand {
  return {
    requestId,
    outcome: 'upstream_failed',
    usage: { ...NO_USAGE, basis: 'estimated' },
    attempts: '[]',
    usdPerMillion: usdRate(1_000_000n),
    nowMs: NOW + 1,
  };
}

/** The message of a rejection with its class, or what the promise answered. */
export async function outcomeOf<T>(promise: Promise<T>): Promise<T | string> {
  return promise.catch((error: Error) => `${error.name}: ${error.message}`);
}

/** The same ledger, whose holds are on disk when they are answered. */
export function onDisk<Own extends Ledger>(ledger: Own): Own {
  return { ...ledger, hold: (command: HoldCommand) => placed(ledger, command) };
}

/** A hold that is on disk. */
export async function placed(ledger: Ledger, command: HoldCommand): Promise<PlacedHold> {
  const hold = await ledger.hold(command);
  await hold.written.wait();
  return hold;
}

/** Waits for a command that the ledger may refuse, and throws every other failure. */
export async function unlessRefused(command: Promise<unknown>): Promise<void> {
  await command.catch((error: Error) => {
    if (error.name !== 'LedgerRefusal') throw error;
  });
}
