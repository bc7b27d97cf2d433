// The statements over `holds`, and nothing else. What runs once or more a request is a
// `prepareStatement`; a look at a whole row stays with Drizzle.

import { and, eq, isNull, sql } from 'drizzle-orm';
import { andThen } from '../async/awaitable.ts';
import type { ClientFormatName } from '../core/admit.ts';
import { type Micro, tokenCount } from '../core/money.ts';
import type { Database } from '../store/contract.ts';
import { type HoldPhase, holds } from '../store/money-tables.ts';
import { larger } from '../store/portable.ts';
import { placeholders } from '../store/statement.ts';
import type { CheckpointCommand } from './contract.ts';

export type Hold = typeof holds.$inferSelect;

/** What the end of a hold needs to know of it. */
export type OpenHold = Pick<Hold, keyof typeof OPEN_HOLD>;

type HoldEnd = {
  readonly requestId: string;
  /** What it holds: a hold of another amount is not ended. */
  readonly amount: Micro;
  readonly phase: HoldPhase;
  readonly endedAt: number;
};

/** The columns of an open hold that are read, in the order of `OpenHoldRow`. */
export const OPEN_HOLD = {
  accountId: holds.accountId,
  keyId: holds.keyId,
  format: holds.format,
  stream: holds.stream,
  endUser: holds.endUser,
  model: holds.model,
  priceVersion: holds.priceVersion,
  amount: holds.amount,
  promptTokens: holds.promptTokens,
  createdAt: holds.createdAt,
  worst: larger(holds.worst, holds.amount),
};

export type OpenHoldRow = [
  accountId: string,
  keyId: string,
  format: ClientFormatName,
  stream: bigint,
  endUser: string | null,
  model: string,
  priceVersion: string,
  amount: Micro,
  promptTokens: bigint,
  createdAt: bigint,
  worst: Micro,
];

type Checkpoint = Pick<
  CheckpointCommand,
  'requestId' | 'outputTokens' | 'reasoningTokens' | 'nowMs'
> & {
  readonly upstream: string;
  readonly modelServed: string;
  readonly priceVersionServed: string;
};

export function prepareHoldStatements(database: Database) {
  const { db } = database;
  const value = sql.placeholder;
  const isOpen = and(eq(holds.requestId, value('requestId')), isNull(holds.endedAt));

  const insert = database.prepare<Hold>(
    db.insert(holds).values(placeholders(holds)).onConflictDoNothing(),
  );

  const checkpoint = database.prepare<Checkpoint>(
    db
      .update(holds)
      .set({
        phase: sql`'dispatched'`,
        upstream: sql`${value('upstream')}`,
        modelServed: sql`${value('modelServed')}`,
        priceVersionServed: sql`${value('priceVersionServed')}`,
        dispatchedAt: sql`coalesce(${holds.dispatchedAt}, ${value('nowMs')})`,
        outputTokens: larger(holds.outputTokens, sql`${value('outputTokens')}`),
        reasoningTokens: larger(holds.reasoningTokens, sql`${value('reasoningTokens')}`),
        checkpointAt: sql`${value('nowMs')}`,
      })
      .where(isOpen),
  );

  const raise = database.prepare<{ requestId: string; amount: Micro; worst: Micro }>(
    db
      .update(holds)
      .set({ amount: sql`${value('amount')}`, worst: sql`${value('worst')}` })
      .where(isOpen),
  );

  const end = database.prepare<HoldEnd>(
    db
      .update(holds)
      .set({ phase: sql`${value('phase')}`, endedAt: sql`${value('endedAt')}` })
      .where(and(isOpen, eq(holds.amount, value('amount')))),
  );

  const findOpen = database.prepare<{ requestId: string }, OpenHoldRow>(
    db.select(OPEN_HOLD).from(holds).where(isOpen),
  );

  const findWorst = database.prepare<{ accountId: string }, [requestId: string, worst: Micro]>(
    db
      .select({ requestId: holds.requestId, worst: OPEN_HOLD.worst })
      .from(holds)
      .where(and(eq(holds.accountId, value('accountId')), isNull(holds.endedAt))),
  );

  const find = db
    .select()
    .from(holds)
    .where(eq(holds.requestId, value('requestId')))
    .prepare();

  // By account, because the index of the open holds is: never a walk over all that there were.
  const openBefore = db
    .select({ requestId: holds.requestId, boot: holds.boot })
    .from(holds)
    .where(and(isNull(holds.endedAt), sql`${holds.createdAt} < ${value('createdBefore')}`))
    .orderBy(holds.accountId, holds.createdAt, holds.requestId)
    .prepare();

  return {
    /** Answers whether the hold is new; one with this request id stays as it is. */
    insertHold: (hold: Hold) => andThen(insert.run(hold), isOne),
    /** Answers whether there was an open one. */
    checkpointHold: async (command: Checkpoint) => isOne(await checkpoint.run(command)),
    raiseHold: (requestId: string, amount: Micro, worst: Micro) =>
      raise.run({ requestId, amount, worst }),
    /** Ends a hold that is still open and of that amount; answers whether there was one. */
    endHold: (command: HoldEnd) => andThen(end.run(command), isOne),
    async findOpenHold(requestId: string): Promise<OpenHold | undefined> {
      const row = await findOpen.get({ requestId });
      return row === undefined ? undefined : openHoldOf(row);
    },
    /** The worst case of each open hold of an account. */
    findWorst: (accountId: string) => findWorst.all({ accountId }),
    findHold: (requestId: string) => find.get({ requestId }),
    /** The requests whose hold is open and older than an instant, with whose it is. */
    openHoldsBefore: (createdBefore: number) => openBefore.all({ createdBefore }),
  };
}

function isOne(count: number): boolean {
  return count === 1;
}

export function openHoldOf(row: OpenHoldRow): OpenHold {
  const [accountId, keyId, format, stream, endUser, model, priceVersion, amount] = row;
  return {
    accountId,
    keyId,
    format,
    stream: stream === 1n,
    endUser,
    model,
    priceVersion,
    amount,
    worst: row[10],
    promptTokens: tokenCount(Number(row[8])),
    createdAt: Number(row[9]),
  };
}
