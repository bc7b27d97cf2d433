// Keeps requests with an `Idempotency-Key` for a day: who runs the first one, and its answer. A row
// is written before the hold of its request, so that a crash never hides a charge. Answers are
// sealed, and belong to one API key of one account.

import { and, eq, isNull, sql } from 'drizzle-orm';
import { createBackoff } from '../async/backoff.ts';
import { createSerialize } from '../async/serialize.ts';
import { type RandomBytes, requestIdBytes } from '../core/id.ts';
import { BODY_KEY } from '../core/idempotency-key.ts';
import { nodes } from '../store/cluster-tables.ts';
import type { Database } from '../store/contract.ts';
import { isStoreFailure } from '../store/error.ts';
import { createKeptRows, readSum, type Sum } from '../store/kept-rows.ts';
import { createSealer, deriveKey } from '../store/seal.ts';
import { sweepTable } from '../store/sweep.ts';
import { idempotentRequests } from '../store/tables.ts';
import { createRoom, type IdempotencyBounds } from './room.ts';
import { type Aged, type IdempotentRow, prepareStatements } from './statements.ts';

/** The API key that a request came with; two of them share nothing. */
export type Asker = { readonly accountId: string; readonly keyId: string };

/** An `Idempotency-Key` of one asker. */
export type KeyLookup = {
  readonly accountId: string;
  readonly digest: Uint8Array;
  /** How long its answer is found. */
  readonly ageMs: number;
  /** Its client cannot choose another name: a request that failed is tried again. */
  readonly isBody: boolean;
};

export type KeptRequest = Pick<
  IdempotentRow,
  'id' | 'requestId' | 'fingerprint' | 'owner' | 'state' | 'createdAt'
> & {
  /**
   * The answer of a row that is `kept`; undefined if it cannot be opened. Opened when it is read: a
   * repeat with another body does not need it.
   */
  readonly answer: Uint8Array | undefined;
};

export const BOUNDS: IdempotencyBounds = {
  // A million tokens of text without repetition, after compression.
  entryBytes: 4_194_304,
  // Some hundreds of long streams, or thousands of short ones.
  accountBytes: 16_777_216,
  // A size that an operator's disk and backups can bear by default.
  totalBytes: 1_073_741_824,
  // An hour of the largest plan at its full rate. A row needs some 300 bytes.
  accountRows: 200_000,
  totalRows: 2_000_000,
  ageMs: 24 * 3_600_000,
  // Agents retry within minutes. Later, the same body may well ask for another answer.
  bodyAgeMs: 10 * 60_000,
};

/** With the pauses between them some 16 s: less than other nodes give a live one. */
const CONCLUDE_TRIES = 9;

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;

export function createIdempotencyStore(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  /** Must survive a restart, and be the same on all nodes. */
  readonly secret: string;
  /** This node's incarnation. */
  readonly incarnation: () => string;
  /** Called when an answer could not be kept. */
  readonly onTrouble: (error: unknown) => void;
  readonly bounds?: IdempotencyBounds;
  /** Replaces the default in tests. */
  readonly sleep?: (ms: number) => Promise<void>;
}) {
  const { database, clock, randomBytes, secret, incarnation, onTrouble } = dependencies;
  const { bounds = BOUNDS, sleep = Bun.sleep } = dependencies;
  const lookupKey = deriveKey(secret, 'tollgate idempotency: lookup, version 1');
  const bodyKey = deriveKey(secret, 'tollgate idempotency: body, version 1');
  const sealKey = deriveKey(secret, 'tollgate idempotency: sealing, version 1');
  const sealer = createSealer(sealKey, randomBytes);
  const statements = prepareStatements(database);
  const kept = createKeptRows({ database, table: idempotentRequests, clock, ageMs: bounds.ageMs });
  const makeRoom = createRoom(statements, kept, bounds);
  /** Serializes changes, because the sums are valid only between them. */
  const inTurn = createSerialize();
  const aliveNode = database.db
    .select({ boot: nodes.boot })
    .from(nodes)
    .where(and(eq(nodes.boot, sql.placeholder('boot')), isNull(nodes.deadAt)))
    .prepare();

  /** Tries again where the database fails, so that its restart loses no answer. */
  async function attempt(tries: number, work: () => Promise<void>): Promise<void> {
    const backoff = createBackoff();
    for (let left = tries - 1; ; left -= 1) {
      try {
        await inTurn(work);
        return;
      } catch (error) {
        kept.forget();
        if (left === 0 || !isStoreFailure(error)) {
          onTrouble(error);
          return;
        }
      }
      await sleep(backoff.next());
    }
  }

  /**
   * Expired rows count as missing, unless their request runs. A row from the future is fresh: the clock
   * was set back, and a missing row would be a second charge.
   */
  const hasExpired = ({ state, createdAt }: Aged, { ageMs }: KeyLookup): boolean => {
    const age = clock() - createdAt;
    return state !== 'running' && (age >= ageMs || age <= -bounds.ageMs);
  };

  const owned = ({ digest }: KeyLookup, requestId: string) => ({
    digest,
    requestId: requestIdBytes(requestId),
  });

  return {
    bounds,
    lookup({ accountId, keyId }: Asker, idempotencyKey: string): KeyLookup {
      const digest = digestOf(lookupKey, [accountId, keyId, idempotencyKey]);
      return { accountId, digest, ageMs: bounds.ageMs, isBody: false };
    },
    /** The name of a request that is named by its body. */
    lookupBody({ accountId, keyId }: Asker, fingerprint: Uint8Array): KeyLookup {
      const digest = digestOf(lookupKey, [accountId, keyId, BODY_KEY, fingerprint.toHex()]);
      return { accountId, digest, ageMs: bounds.bodyAgeMs, isBody: true };
    },
    /** Two requests with the same fingerprint have the same format and the same body. */
    fingerprint: (format: string, body: string): Uint8Array =>
      new Bun.CryptoHasher('sha256', bodyKey).update(`${format}\n`).update(body).digest(),
    /** Whether there is a row. Reads no answer. */
    async has(lookup: KeyLookup): Promise<boolean> {
      const row = await statements.look(lookup.digest);
      return row !== undefined && !hasExpired(row, lookup);
    },
    async find(lookup: KeyLookup): Promise<KeptRequest | undefined> {
      const row = await statements.find(lookup.digest);
      if (row === undefined) return undefined;
      const { id, requestId, fingerprint, owner, state, createdAt, sealed } = row;
      if (hasExpired(row, lookup)) {
        await this.remove({ id, requestId });
        return undefined;
      }
      return {
        id,
        requestId,
        fingerprint,
        owner,
        state,
        createdAt,
        get answer() {
          if (sealed === null) return undefined;
          return sealer.openBytes(sealed, contextOf(lookup, requestId));
        },
      };
    },
    /** Whether this request is the first. Written before its hold. */
    async claim(lookup: KeyLookup, fingerprint: Uint8Array, requestId: string): Promise<boolean> {
      const isFirst = await statements.claim({
        ...owned(lookup, requestId),
        accountId: lookup.accountId,
        fingerprint,
        owner: incarnation(),
        createdAt: clock(),
      });
      if (isFirst) kept.count(lookup.accountId, 1, 0);
      return isFirst;
    },
    /** Keeps the answer of a request that was charged. Never rejects. */
    keep: (lookup: KeyLookup, requestId: string, answer: Uint8Array | undefined): Promise<void> =>
      attempt(CONCLUDE_TRIES, async () => {
        const { accountId } = lookup;
        const row = { ...owned(lookup, requestId), createdAt: clock() };
        if (answer === undefined || answer.length > bounds.entryBytes) {
          await statements.lose(row);
          return;
        }
        const sealed = sealer.seal(answer, contextOf(lookup, requestId));
        if (!(await statements.keep({ ...row, size: sealed.length, sealed }))) return;
        kept.count(accountId, 0, sealed.length);
        await makeRoom(accountId);
      }),
    /** Removes the row of a request that was charged nothing. Never rejects. */
    release: (lookup: KeyLookup, requestId: string): Promise<void> =>
      attempt(CONCLUDE_TRIES, async () => {
        kept.countOut(await statements.release(owned(lookup, requestId)));
      }),
    /** Removes a row that is expired, or whose request is gone and was charged nothing. */
    async remove({ id, requestId }: Pick<KeptRequest, 'id' | 'requestId'>): Promise<void> {
      kept.countOut(await statements.remove({ id, requestId: requestIdBytes(requestId) }));
    },
    /** Whether another node runs the request of a row that is `running`. */
    async isElsewhere({ owner }: Pick<KeptRequest, 'owner'>): Promise<boolean> {
      if (owner === incarnation()) return false;
      return (await aliveNode.get({ boot: owner })) !== undefined;
    },
    /** Removes a few expired rows; call it at intervals. Never rejects. */
    sweep: (): Promise<void> =>
      attempt(1, async () => {
        if (await kept.isDue()) await kept.sweep();
      }),
    /** Call it when another process may have removed rows. */
    recount: () => void inTurn(async () => kept.forget()),
  };
}

/** Removes the idempotent requests of an account, or of all of them. Not inside a transaction. */
export async function forgetIdempotent(database: Database, accountId?: string): Promise<void> {
  const ofAccount =
    accountId === undefined ? undefined : eq(idempotentRequests.accountId, accountId);
  await sweepTable(database, idempotentRequests, ofAccount);
}

/** How much is kept, for an operator. */
export const keptAnswers = (database: Database): Promise<Sum> =>
  readSum(database, idempotentRequests);

function digestOf(key: Uint8Array, parts: readonly string[]): Uint8Array {
  return new Bun.CryptoHasher('sha256', key).update(JSON.stringify(parts)).digest();
}

function contextOf({ digest, accountId }: KeyLookup, requestId: string): Uint8Array {
  return Buffer.concat([digest, requestIdBytes(requestId), Buffer.from(accountId)]);
}
