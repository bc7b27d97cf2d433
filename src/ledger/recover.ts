// Ends the holds that a dead process left behind. Releases a hold of which nothing was delivered.
// Settles any other by its last checkpoint, with the estimated prompt; what exceeds the hold is the
// gateway's loss.

import { lt } from 'drizzle-orm';
import { ZERO } from '../core/money.ts';
import { chargeServed } from '../core/price.ts';
import { NO_USAGE } from '../core/usage.ts';
import type { Database } from '../store/contract.ts';
import { holds } from '../store/money-views.ts';
import type { LedgerBatch } from './batch.ts';
import type { Ledger, RecoverCommand, Recovered, ReleaseCommand, Settlement } from './contract.ts';
import { endHold, NO_ATTEMPTS } from './end-hold.ts';
import type { OpenHold } from './memory.ts';

/** Holds per command: other commands wait for its transaction and for its accounts. */
export const RECOVER_MAX = 100;

export function recover(batch: LedgerBatch, command: RecoverCommand): readonly Recovered[] {
  const recovered: Recovered[] = [];
  for (const requestId of batch.facts.recoverable.get(command) ?? []) {
    const hold = batch.memory.holds.get(requestId);
    if (hold === undefined) continue;
    const end = tryEnd(batch, hold, command);
    if (end === undefined) continue;
    recovered.push({ requestId, accountId: hold.account.id, debited: end.debited });
  }
  return recovered;
}

/**
 * A hold that the books contradict stays open: the audit reports it and stops its account, and all
 * other accounts are served.
 */
function tryEnd(
  batch: LedgerBatch,
  hold: OpenHold,
  command: RecoverCommand,
): Settlement | undefined {
  try {
    return recoverHold(batch, hold, command);
  } catch {
    return undefined;
  }
}

function recoverHold(batch: LedgerBatch, hold: OpenHold, command: RecoverCommand): Settlement {
  const { row, requestedPrice } = hold;
  const expired = command.phase === 'expired';
  const end: Omit<ReleaseCommand, 'usage' | 'served'> = {
    requestId: row.id,
    outcome: 'gateway_failed',
    failure: 'recovered',
    attempts: NO_ATTEMPTS,
    usdPerMillion: command.usdPerMillion,
    nowMs: command.nowMs,
  };
  const { modelServed, upstream, priceServed } = row;
  if (modelServed === null || upstream === null || priceServed === null) {
    const usage = { ...NO_USAGE, basis: 'recovered' } as const;
    return endHold(batch, hold, { ...end, usage }, ZERO, expired ? 'expired' : 'released');
  }
  // An upstream may ignore the output bound; the customer is never charged above it.
  const outputTokens = Math.min(row.outputTokens, row.outputBound);
  const usage = {
    ...NO_USAGE,
    inputTokens: row.promptTokens,
    outputTokens,
    reasoningTokens: Math.min(row.reasoningTokens, outputTokens),
    basis: 'recovered',
  } as const;
  const { names } = batch;
  const served = {
    model: names.textOf(modelServed),
    upstream: names.textOf(upstream),
    price: names.priceOf(priceServed),
  };
  const charge = chargeServed(usage, requestedPrice, served.price);
  const settle = { ...end, served, usage, withinHold: true };
  return endHold(batch, hold, settle, charge, expired ? 'expired' : 'settled');
}

/** The holds older than an instant, in the order in which accounts are locked. */
export async function openBefore({ db }: Database, createdBefore: number) {
  return db
    .select({ requestId: holds.requestId, incarnation: holds.incarnation })
    .from(holds)
    .where(lt(holds.startedAt, createdBefore))
    .orderBy(holds.accountId, holds.startedAt, holds.requestId);
}

/** The open holds that a command selects. */
export function recoverable(
  open: readonly { readonly requestId: string; readonly incarnation: string | null }[],
  command: RecoverCommand,
): readonly string[] {
  const live = new Set(command.live);
  const incarnations = command.incarnations && new Set(command.incarnations);
  return open.flatMap(({ requestId, incarnation }) => {
    const isMeant = incarnations?.has(incarnation ?? '') !== false;
    return isMeant && !live.has(requestId) ? requestId : [];
  });
}

/** Recovers until nothing is left, with a bounded number of holds per transaction. */
export async function recoverAll(ledger: Ledger, command: RecoverCommand): Promise<Recovered[]> {
  const all: Recovered[] = [];
  for (;;) {
    const some = await ledger.recover(command);
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** Incarnations with an open hold; the empty one stands for holds without a node. */
export async function holdingIncarnations({ db }: Database): Promise<readonly string[]> {
  const rows = await db.selectDistinct({ incarnation: holds.incarnation }).from(holds);
  return rows.map(({ incarnation }) => incarnation ?? '');
}
