// The blocklist: accounts, keys and networks that are rejected, permanently or for a time. Each
// change is one transaction with its audit event; requests read a snapshot in memory.

import { and, asc, eq, gt, isNull, lte, or } from 'drizzle-orm';
import { createId } from '../core/id.ts';
import type { Blocklist } from '../core/service-state.ts';
import type { Database } from '../store/contract.ts';
import { sweepTable } from '../store/sweep.ts';
import { type BlockKind, blocks } from '../store/tables.ts';
import { createNetworkSet, normaliseNetwork, UNKNOWN_ADDRESS } from './address.ts';
import { type Actor, auditChange, type Basics } from './audit.ts';
import { IdentityError } from './error.ts';

export type Block = typeof blocks.$inferSelect;

/** The blocks active at `nowMs`, and when the first of them ends (Unix milliseconds). */
export async function readBlocklist(
  database: Database,
  nowMs: number,
): Promise<{ readonly blocklist: Blocklist; readonly changesAt: number }> {
  const { kind, value, expiresAt } = blocks;
  const inForce = database.db.select({ kind, value, expiresAt }).from(blocks);
  const rows = await inForce.where(isInForce(nowMs)).all();
  const values = (of: BlockKind): string[] =>
    rows.flatMap((row) => (row.kind === of ? [row.value] : []));
  const accounts = new Set(values('account'));
  const keys = new Set(values('key'));
  const networks = values('network');
  const networkSet = createNetworkSet(networks);
  const blocklist: Blocklist = {
    accountBlocked: (accountId) => accounts.has(accountId),
    keyBlocked: (keyId) => keys.has(keyId),
    blocksNetworks: networks.length > 0,
    // An unknown address may be in a blocked network, so it is rejected as soon as any network is.
    addressBlocked: (address) => address === UNKNOWN_ADDRESS || networkSet.contains(address),
  };
  const changesAt = rows.reduce((at, row) => Math.min(at, row.expiresAt ?? Infinity), Infinity);
  return { blocklist: Object.freeze(blocklist), changesAt };
}

/** The rows that are active at an instant. */
export function isInForce(nowMs: number) {
  return or(isNull(blocks.expiresAt), gt(blocks.expiresAt, nowMs));
}

/** The active block of one account, key or network; `undefined` where there is none. */
export async function findBlock(
  { db }: Database,
  kind: BlockKind,
  value: string,
  nowMs: number,
): Promise<Block | undefined> {
  return db
    .select()
    .from(blocks)
    .where(and(eq(blocks.kind, kind), eq(blocks.value, value), isInForce(nowMs)))
    .get();
}

/** For operators: add, remove, list. `value` is an account id, a key id or a network. */
export function createBlocks(dependencies: Basics) {
  const { database, clock, randomBytes } = dependencies;
  const { db } = database;

  async function audit(
    action: 'block.added' | 'block.removed',
    { id, kind, value, reason, expiresAt }: Block,
    actor: Actor,
  ): Promise<void> {
    const detail = { kind, value, reason, expires_at: expiresAt };
    const accountId = kind === 'account' ? value : undefined;
    await auditChange({ ...dependencies, actor }, action, id, detail, accountId);
  }

  return {
    /**
     * `forMs` is the duration of the block; absent: until it is removed. Throws `invalid_block` for
     * an invalid network, and `already_blocked`.
     */
    async add(
      kind: BlockKind,
      value: string,
      { reason, forMs }: { readonly reason: string; readonly forMs?: number | undefined },
      actor: Actor,
    ): Promise<Block> {
      const now = clock();
      const block: Block = {
        id: createId('blk_', randomBytes),
        kind,
        value: canonicalValue(kind, value),
        reason: reason.trim(),
        createdAt: now,
        expiresAt: forMs === undefined ? null : now + forMs,
      };
      return database.transaction(async () => {
        // Ended blocks remain only in the audit trail.
        await db.delete(blocks).where(lte(blocks.expiresAt, now)).run();
        if ((await findBlock(database, kind, block.value, now)) !== undefined) {
          throw new IdentityError(
            'already_blocked',
            `This ${kind} is blocked already. To change how long, remove the block first.`,
          );
        }
        await db.insert(blocks).values(block).run();
        await audit('block.added', block, actor);
        return block;
      });
    },

    /** Removes ended blocks, which remain in the audit trail. */
    sweep: (): Promise<void> => sweepTable(database, blocks, lte(blocks.expiresAt, clock())),

    /** Throws `block_not_found`. */
    async remove(kind: BlockKind, value: string, actor: Actor): Promise<Block> {
      return database.transaction(async () => {
        const block = await findBlock(database, kind, canonicalValue(kind, value), clock());
        if (block === undefined) {
          throw new IdentityError('block_not_found', `This ${kind} is not blocked.`);
        }
        await db.delete(blocks).where(eq(blocks.id, block.id)).run();
        await audit('block.removed', block, actor);
        return block;
      });
    },

    /** The active blocks, by kind and value. */
    list: async (): Promise<Block[]> =>
      db
        .select()
        .from(blocks)
        .where(isInForce(clock()))
        .orderBy(asc(blocks.kind), asc(blocks.value))
        .all(),
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
