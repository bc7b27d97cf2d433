// A ledger over a real file, and short ways to say its commands.

import type {
  CreditCommand,
  HoldCommand,
  ReleaseCommand,
  SettleCommand,
} from '../../src/ledger/contract.ts';
import { createLedger, type Ledger } from '../../src/ledger/ledger.ts';
import type { Database } from '../../src/store/database.ts';
import { accounts } from '../../src/store/tables.ts';
import { newDatabase } from './database.ts';

export const NOW = 1_795_248_274_894;

export const PRICE = {
  version: 'swift-1@1',
  input: 150_000n,
  cachedInput: 30_000n,
  cacheWrite: 150_000n,
  output: 600_000n,
};

export type Books = { readonly database: Database; readonly ledger: Ledger };

export function openBooks(directory: string): Books {
  const database = newDatabase(directory);
  return { database, ledger: createLedger({ database }) };
}

export function closeBooks({ database, ledger }: Books): void {
  ledger.close();
  database.close();
}

export function addAccount({ database, ledger }: Books, id: string): void {
  database.transaction((tx) => {
    tx.insert(accounts)
      .values({
        id,
        email: `${id}@example.org`,
        plan: 'pro',
        planSince: NOW,
        standing: 'active',
        emailVerified: true,
        createdAt: NOW,
      })
      .run();
    ledger.openBalance(tx, id);
  });
}

/** An account with `amount` in it. */
export async function fundAccount(books: Books, id: string, amount: bigint): Promise<void> {
  addAccount(books, id);
  if (amount > 0n) await books.ledger.credit(creditOf(`opening-${id}`, id, amount));
}

export function creditOf(creditId: string, accountId: string, amount: bigint): CreditCommand {
  return { creditId, accountId, amount, reason: 'test', nowMs: NOW };
}

export function holdOf(requestId: string, accountId: string, amount: bigint): HoldCommand {
  return {
    requestId,
    accountId,
    keyId: 'key_1',
    model: 'swift-1',
    price: PRICE,
    amount,
    promptTokens: 100,
    outputBound: 8_192,
    nowMs: NOW,
  };
}

export function settleOf(requestId: string, charge: bigint): SettleCommand {
  return {
    requestId,
    charge,
    format: 'chat',
    stream: true,
    served: { model: 'swift-1', upstream: 'demo', price: PRICE },
    outcome: 'completed',
    usage: {
      inputTokens: 90,
      cachedInputTokens: 40,
      cacheWriteTokens: 0,
      outputTokens: 10,
      reasoningTokens: 5,
      basis: 'reported',
    },
    endUser: 'user-1',
    attempts: [{ upstream: 'demo', ms: 12 }],
    startedAtMs: NOW,
    nowMs: NOW + 1,
  };
}

export function releaseOf(requestId: string): ReleaseCommand {
  return {
    requestId,
    format: 'messages',
    stream: false,
    outcome: 'upstream_failed',
    usage: {
      inputTokens: 0,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 0,
      reasoningTokens: 0,
      basis: 'estimated',
    },
    attempts: [],
    startedAtMs: NOW,
    nowMs: NOW + 1,
  };
}

/** The message of a rejection with its class, or what the promise answered. */
export async function outcomeOf<T>(promise: Promise<T>): Promise<T | string> {
  return promise.catch((error: Error) => `${error.name}: ${error.message}`);
}
