// The messages between a serving thread and the writing thread: steps of transactions, and one
// answer per step. Plain data with packed errors, because structured cloning loses their class.

import { SQLiteError } from 'bun:sqlite';
import { messageOf } from '../../core/message-of.ts';
import type { SyncMode } from '../contract.ts';
import { StoreError, WriterFailure } from '../error.ts';

export type Ask = {
  readonly text: string;
  readonly params: readonly unknown[];
  /** Columns in order, rows by the names of columns, or the number of written rows. */
  readonly wants: 'values' | 'rows' | 'changes';
};

export type WriterStep =
  | { readonly kind: 'begin'; readonly sync: SyncMode; readonly permit: Permit }
  | { readonly kind: 'ask'; readonly ask: Ask }
  | { readonly kind: 'commit' }
  /** Not answered. */
  | { readonly kind: 'undo' };

/** Several steps at once where none needs the answer to another. */
export type ToWriter = { readonly transaction: number; readonly steps: readonly WriterStep[] };

export type FromWriter = {
  readonly transaction: number;
  readonly answers: readonly WriterAnswer[];
};

export type WriterAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: PackedFailure };

type PackedFailure = {
  readonly message: string;
  /** SQLite's code; absent for a `StoreError`. */
  readonly code?: string;
};

/**
 * Whether a transaction may still begin. Both threads decide it in one shared cell, so that a
 * caller that timed out is never served afterwards.
 */
type Permit = Int32Array<SharedArrayBuffer>;

const WAITING = 0;
const BEGUN = 1;
const ABANDONED = 2;

export function createPermit(): Permit {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** The writer's side. False where the caller no longer waits. */
export function begin(permit: Permit): boolean {
  return Atomics.compareExchange(permit, 0, WAITING, BEGUN) === WAITING;
}

/** The caller's side. False where the transaction has begun. */
export function abandon(permit: Permit): boolean {
  return Atomics.compareExchange(permit, 0, WAITING, ABANDONED) !== BEGUN;
}

export function isAbandoned(permit: Permit): boolean {
  return Atomics.load(permit, 0) === ABANDONED;
}

export function packFailure(cause: unknown): PackedFailure {
  const message = messageOf(cause);
  return cause instanceof SQLiteError
    ? { message, code: cause.code ?? 'SQLITE_ERROR' }
    : { message };
}

export function unpackFailure({ message, code }: PackedFailure): Error {
  return code === undefined ? new StoreError(message) : new WriterFailure(code, message);
}
