// Ends the holds that a process left behind when it died. A hold without a checkpoint is released:
// nothing had been delivered. One with a checkpoint is settled at what had been delivered by its last
// one, with the prompt as it was estimated; what exceeds the hold is the gateway's loss.

import { isNull } from 'drizzle-orm';
import { ZERO } from '../core/money.ts';
import { chargeServed } from '../core/price.ts';
import { NO_USAGE } from '../core/usage.ts';
import type { Database } from '../store/contract.ts';
import { holds } from '../store/money-tables.ts';
import type {
  Ledger,
  RecoverCommand,
  Recovered,
  ReleaseCommand,
  Served,
  Settlement,
} from './contract.ts';
import type { EndHold } from './end-hold.ts';
import type { Hold } from './hold-statements.ts';
import type { Prices } from './prices.ts';
import type { Statements } from './statements.ts';

/** Holds that one command ends: others wait for its transaction, and for the accounts of these. */
export const RECOVER_MAX = 100;

export function createRecover(parts: {
  readonly statements: Statements;
  readonly prices: Prices;
  readonly endHold: EndHold;
  /** Undoes what the work wrote, and answers nothing, where it cannot be done. */
  readonly attempt: <T>(work: () => Promise<T>) => Promise<T | undefined>;
}): (command: RecoverCommand) => Promise<readonly Recovered[]> {
  const { statements, prices, endHold, attempt } = parts;

  async function recoverHold(hold: Hold, command: RecoverCommand): Promise<Settlement> {
    const { requestId } = hold;
    const expired = command.phase === 'expired';
    const served = hold.phase === 'held' ? undefined : await servedOf(hold);
    const end: Omit<ReleaseCommand, 'usage' | 'served'> = {
      requestId,
      outcome: 'gateway_failed',
      attempts: [],
      usdPerMillion: command.usdPerMillion,
      nowMs: command.nowMs,
    };
    if (served === undefined) {
      const usage = { ...NO_USAGE, basis: 'recovered' } as const;
      return endHold({ ...end, usage }, ZERO, expired ? 'expired' : 'released');
    }
    // An upstream may ignore the bound; the caller's bound is one on what is charged all the same.
    const outputTokens = Math.min(hold.outputTokens, hold.outputBound);
    const usage = {
      ...NO_USAGE,
      inputTokens: hold.promptTokens,
      outputTokens,
      reasoningTokens: Math.min(hold.reasoningTokens, outputTokens),
      basis: 'recovered',
    } as const;
    const charge = chargeServed(usage, await prices.read(hold.priceVersion), served.price);
    const settle = { ...end, served, usage, withinHold: true };
    return endHold(settle, charge, expired ? 'expired' : 'settled');
  }

  /** Holds of earlier versions do not say who was asked. */
  async function servedOf(hold: Hold): Promise<Served> {
    return {
      model: hold.modelServed ?? hold.model,
      upstream: hold.upstream ?? 'unknown',
      price: await prices.read(hold.priceVersionServed ?? hold.priceVersion),
    };
  }

  async function recoverOne(
    requestId: string,
    command: RecoverCommand,
  ): Promise<Recovered | undefined> {
    const hold = await statements.findHold(requestId);
    if (hold === undefined || hold.endedAt !== null) return undefined;
    const { debited } = await recoverHold(hold, command);
    return { requestId, accountId: hold.accountId, debited };
  }

  return async (command) => {
    const recovered: Recovered[] = [];
    const open = await statements.openHoldsBefore(command.createdBefore);
    for (const requestId of recoverable(open, command)) {
      if (recovered.length === RECOVER_MAX) break;
      // A hold that the books contradict stays as it is: the audit names it and stops its account,
      // and everybody else is served.
      const one = await attempt(() => recoverOne(requestId, command));
      if (one !== undefined) recovered.push(one);
    }
    return recovered;
  };
}

/** Those of the open holds that a command is about. */
export function recoverable(
  open: readonly { readonly requestId: string; readonly boot: string }[],
  command: RecoverCommand,
): readonly string[] {
  const live = new Set(command.live);
  const incarnations = command.incarnations && new Set(command.incarnations);
  const only = command.requestIds && new Set(command.requestIds);
  return open.flatMap(({ requestId, boot }) => {
    const isMeant = incarnations?.has(boot) !== false && only?.has(requestId) !== false;
    return isMeant && !live.has(requestId) ? requestId : [];
  });
}

/** Recovers until nothing is left, a bounded number of holds a transaction. */
export async function recoverAll(ledger: Ledger, command: RecoverCommand): Promise<Recovered[]> {
  const all: Recovered[] = [];
  for (;;) {
    const some = await ledger.recover(command);
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** Incarnations with an open hold; the empty one belongs to no node. */
export async function holdingIncarnations({ db }: Database): Promise<readonly string[]> {
  const rows = await db
    .selectDistinct({ boot: holds.boot })
    .from(holds)
    .where(isNull(holds.endedAt));
  return rows.map(({ boot }) => boot);
}
