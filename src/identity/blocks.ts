// The blocklist: accounts, keys and networks that are refused. Changes are one transaction with
// their audit event; requests read an immutable snapshot in memory that `reload` replaces.

import { and, asc, eq } from 'drizzle-orm';
import { createId, type RandomBytes } from '../core/id.ts';
import type { Database } from '../store/database.ts';
import { type BlockKind, blocks } from '../store/tables.ts';
import { createNetworkSet, normaliseNetwork } from './address.ts';
import { type Actor, writeAuditEvent } from './audit.ts';
import { IdentityError } from './error.ts';

export type Block = typeof blocks.$inferSelect;

export type Blocklist = ReturnType<typeof createBlocklist>;
export type Blocks = ReturnType<typeof createBlocks>;

/** What requests are held against. Empty or not, every question is answered from memory. */
export function createBlocklist(dependencies: { readonly database: Database }) {
  const { database } = dependencies;
  let snapshot = takeSnapshot();

  function takeSnapshot() {
    const rows = database.db.select().from(blocks).all();
    const values = (kind: BlockKind): string[] =>
      rows.filter((row) => row.kind === kind).map((row) => row.value);
    return {
      accounts: new Set(values('account')),
      keys: new Set(values('key')),
      networks: createNetworkSet(values('network')),
      blocksNetworks: rows.some((row) => row.kind === 'network'),
    };
  }

  return {
    accountBlocked: (accountId: string): boolean => snapshot.accounts.has(accountId),
    keyBlocked: (keyId: string): boolean => snapshot.keys.has(keyId),
    blocksNetworks: (): boolean => snapshot.blocksNetworks,
    addressBlocked: (address: string): boolean => snapshot.networks.contains(address),
    reload(): void {
      snapshot = takeSnapshot();
    },
  };
}

/** The operator's side: add, remove, list. `value` is an account id, a key id or a network. */
export function createBlocks(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
}) {
  const { database, clock, randomBytes } = dependencies;
  const { db } = database;

  function audit(action: 'block.added' | 'block.removed', block: Block, actor: Actor): void {
    writeAuditEvent(database, {
      operationId: createId('op_', randomBytes),
      at: clock(),
      actor,
      action,
      ...(block.kind === 'account' ? { accountId: block.value } : {}),
      subject: block.id,
      detail: { kind: block.kind, value: block.value, reason: block.reason },
    });
  }

  function lookUp(kind: BlockKind, value: string): Block | undefined {
    return db
      .select()
      .from(blocks)
      .where(and(eq(blocks.kind, kind), eq(blocks.value, value)))
      .get();
  }

  return {
    /** Throws `invalid_block` for text that is no network and `already_blocked`. */
    add(kind: BlockKind, value: string, reason: string, actor: Actor): Block {
      const block: Block = {
        id: createId('blk_', randomBytes),
        kind,
        value: canonicalValue(kind, value),
        reason: reason.trim(),
        createdAt: clock(),
      };
      return database.transaction(() => {
        const existing = lookUp(kind, block.value);
        if (existing !== undefined) {
          throw new IdentityError('already_blocked', `This ${kind} is blocked already.`);
        }
        db.insert(blocks).values(block).run();
        audit('block.added', block, actor);
        return block;
      });
    },

    /** Throws `block_not_found`. */
    remove(kind: BlockKind, value: string, actor: Actor): Block {
      return database.transaction(() => {
        const block = lookUp(kind, canonicalValue(kind, value));
        if (block === undefined) {
          throw new IdentityError('block_not_found', `This ${kind} is not blocked.`);
        }
        db.delete(blocks).where(eq(blocks.id, block.id)).run();
        audit('block.removed', block, actor);
        return block;
      });
    },

    /** All blocks, by kind and value. */
    list: (): Block[] =>
      db.select().from(blocks).orderBy(asc(blocks.kind), asc(blocks.value)).all(),
  };
}

function canonicalValue(kind: BlockKind, value: string): string {
  if (kind !== 'network') return value;
  const network = normaliseNetwork(value);
  if (network !== undefined) return network;
  throw new IdentityError(
    'invalid_block',
    'The network is not valid. Give an address such as 203.0.113.7 or 2001:db8::1, or a network in CIDR notation such as 203.0.113.0/24.',
  );
}
