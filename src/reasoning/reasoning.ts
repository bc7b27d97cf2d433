// Keeps thinking that led to tool calls for a day, in case the client loses it, because reasoning
// models reject a tool turn without it. It must never delay or fail an answer, give one account the
// thinking of another, or expose it: rows are sealed, and logs contain nothing of them.

import { eq } from 'drizzle-orm';
import type { SignedThinking, ToolCall } from '../core/generation.ts';
import type { RandomBytes } from '../core/id.ts';
import type { Database } from '../store/contract.ts';
import { readSum } from '../store/kept-rows.ts';
import { createSealer, deriveKey } from '../store/seal.ts';
import { sweepTable } from '../store/sweep.ts';
import { reasoning } from '../store/tables.ts';
import { CALLS_PER_TURN_MAX, digestCall, type LookupBudget } from './lookup.ts';
import { type Bounds, createRows } from './rows.ts';

export type Thinking = {
  readonly reasoning: string;
  /** In the upstream's own format, where the upstream signed it. */
  readonly signed?: SignedThinking;
};

/** A turn with tool calls, and its context. */
export type CallingTurn = {
  readonly accountId: string;
  readonly toolCalls: readonly ToolCall[];
  /** A digest of all messages before the turn; called only where it is needed. */
  readonly preceding: () => string;
  /** One for all turns of a request. */
  readonly budget: LookupBudget;
};

export type ReasoningStore = {
  /** Stores the thinking of an answer under its first call, replacing an earlier one. */
  readonly keep: (turn: CallingTurn, thinking: Thinking) => Promise<void>;
  /** The thinking stored under the first of the turn's calls that has any. */
  readonly find: (turn: CallingTurn) => Promise<Thinking | undefined>;
  /** Removes a few expired rows; call it at intervals. */
  readonly sweep: () => Promise<void>;
  /** Call it when another process may have removed rows. */
  readonly recount: () => void;
};

export const BOUNDS: Bounds = {
  // Some 60,000 tokens: more than models think before one tool call.
  entryBytes: 262_144,
  // More than the longest conversations need, of which an account may have several at once.
  accountBytes: 16_777_216,
  // A size that an operator's disk and backups can bear by default.
  totalBytes: 1_073_741_824,
  // An agent that is left open overnight continues in the morning.
  ageMs: 24 * 3_600_000,
};

/** Without a secret, the rows cannot be opened once the process has ended. */
export async function createReasoningStore(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  readonly secret: string | undefined;
  /** Called when the database fails; the answer continues without kept thinking. */
  readonly onTrouble: (error: unknown) => void;
  readonly bounds?: Bounds;
}): Promise<ReasoningStore> {
  const { database, clock, randomBytes, onTrouble, bounds = BOUNDS } = dependencies;
  const secret = dependencies.secret ?? randomBytes(32);
  const lookupKey = deriveKey(secret, 'tollgate reasoning store: lookup, version 1');
  const sealKey = deriveKey(secret, 'tollgate reasoning store: sealing, version 1');
  const sealer = createSealer(sealKey, randomBytes);
  const rows = await createRows({ database, clock, bounds });

  const digest = ({ accountId, preceding, budget }: CallingTurn, call: ToolCall): Uint8Array =>
    digestCall(lookupKey, accountId, call, preceding, budget);

  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      onTrouble(error);
      return undefined;
    }
  }

  return {
    async keep(turn, thinking) {
      const { accountId, toolCalls } = turn;
      const [first] = toolCalls;
      if (first === undefined) return;
      const key = digest(turn, first);
      const sealed = sealer.seal(JSON.stringify(thinking), contextOf(accountId, key));
      await attempt(() => rows.put(accountId, key, sealed));
    },
    async find(turn) {
      for (const call of turn.toolCalls.slice(0, CALLS_PER_TURN_MAX)) {
        if (!turn.budget.takeCall()) return undefined;
        const key = digest(turn, call);
        const sealed = await attempt(() => rows.get(key));
        if (sealed === undefined) continue;
        const text = sealer.open(sealed, contextOf(turn.accountId, key));
        // The seal authenticates it, so it needs no checks.
        if (text !== undefined) return JSON.parse(text) as Thinking;
      }
      return undefined;
    },
    sweep: async () => {
      await attempt(rows.sweep);
    },
    recount: rows.recount,
  };
}

/** Removes the kept thinking of an account, or of all of them. Not inside a transaction. */
export async function forgetThinking(database: Database, accountId?: string): Promise<void> {
  const ofAccount = accountId === undefined ? undefined : eq(reasoning.accountId, accountId);
  await sweepTable(database, reasoning, ofAccount);
}

/** How much is kept, for an operator. */
export async function keptThinking(
  database: Database,
): Promise<{ readonly entries: number; readonly bytes: number }> {
  const { rows: entries, bytes } = await readSum(database, reasoning);
  return { entries, bytes };
}

function contextOf(accountId: string, key: Uint8Array): Uint8Array {
  return Buffer.concat([key, Buffer.from(accountId)]);
}
