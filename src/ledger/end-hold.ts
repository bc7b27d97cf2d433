// The one place where a hold ends: its charge is taken, booked, recorded and receipted. `commands.ts`
// and `recover.ts` call it inside their transaction.

import { type Awaitable, andThen, together } from '../async/awaitable.ts';
import { assert } from '../core/assert.ts';
import { isRestricted } from '../core/exposure.ts';
import { add, type Micro, smaller, subtract } from '../core/money.ts';
import type { HoldPhase } from '../store/money-tables.ts';
import type { ReleaseCommand, SettleCommand, Settlement } from './contract.ts';
import { LedgerRefusal } from './error.ts';
import type { OpenHold } from './hold-statements.ts';
import type { OpenHolds } from './open-holds.ts';
import type { Prices } from './prices.ts';
import type { AppendReceipt } from './receipts.ts';
import type { Statements } from './statements.ts';

type EndPhase = Extract<HoldPhase, 'settled' | 'released' | 'expired'>;

type Amounts = { readonly charge: Micro; readonly debited: Micro; readonly loss: Micro };

/** Ends a request's hold and takes `charge`; one that has ended answers what its end had taken. */
export type EndHold = (
  command: ReleaseCommand & Pick<SettleCommand, 'withinHold'>,
  charge: Micro,
  phase: EndPhase,
) => Promise<Settlement>;

export function createEndHold(parts: {
  readonly statements: Statements;
  readonly prices: Prices;
  readonly openHolds: OpenHolds;
  readonly appendReceipt: AppendReceipt;
}): EndHold {
  const { statements, prices, openHolds, appendReceipt } = parts;

  const endHold: EndHold = async (command, charge, phase) => {
    const { requestId, served, nowMs } = command;
    const ended = await openHolds.find(requestId);
    if (ended === undefined) return firstResult(requestId);
    const { amount } = ended;
    const debited = await payable(ended, charge, command.withinHold);
    const amounts = { charge, debited, loss: subtract(charge, debited) };
    // What needs no answer of the other is asked for together: to a database far away in one round trip.
    const [isEnded, left] = await together([
      statements.endHold({ requestId, amount, phase, endedAt: nowMs }),
      statements.spend(ended.accountId, amount, amounts),
      served === undefined ? undefined : prices.remember({ ...served, nowMs }),
    ]);
    assert(isEnded, 'a hold that is known to be open is open');
    assert(left !== undefined, 'a hold has an account with a balance');
    openHolds.ended(requestId, ended.accountId);
    await together([
      book(requestId, ended.accountId, amounts, nowMs),
      record(ended, command, amounts),
      receipt(ended, command, amounts, left),
    ]);
    const { loss } = amounts;
    const isNew = isRestricted(left.unpaid) && !isRestricted(subtract(left.unpaid, loss));
    return { debited, loss, available: left.available, ...(isNew ? { restricted: true } : {}) };
  };

  /**
   * A charge within the hold is always covered; above it, the available balance pays down to zero,
   * or, where the ending stays within its hold, nothing does.
   */
  function payable(ended: OpenHold, charge: Micro, withinHold = false): Awaitable<Micro> {
    if (charge <= ended.amount) return charge;
    if (withinHold) return ended.amount;
    return andThen(statements.balance(ended.accountId), ({ available }) =>
      smaller(charge, add(available, ended.amount)),
    );
  }

  function book(
    requestId: string,
    accountId: string,
    { debited, loss }: Amounts,
    at: number,
  ): Awaitable<unknown> {
    const fromRevenue = { ledgerAccount: 'operator:revenue', at, reason: null };
    const taken =
      debited > 0n
        ? statements.insertTransfer({
            ...fromRevenue,
            transferId: `settle:${requestId}`,
            counterAccount: `customer:${accountId}`,
            amount: debited,
            kind: 'settle',
          })
        : undefined;
    if (loss === 0n) return taken;
    const lost = statements.insertTransfer({
      ...fromRevenue,
      transferId: `loss:${requestId}`,
      counterAccount: 'operator:loss',
      amount: loss,
      kind: 'loss',
    });
    return together([taken, lost]);
  }

  function record(ended: OpenHold, command: ReleaseCommand, amounts: Amounts): Awaitable<unknown> {
    const { served, usage } = command;
    return statements.insertUsageRecord({
      requestId: command.requestId,
      accountId: ended.accountId,
      keyId: ended.keyId,
      format: ended.format,
      stream: ended.stream,
      modelRequested: ended.model,
      modelServed: served?.model ?? null,
      upstream: served?.upstream ?? null,
      outcome: command.outcome,
      inputTokens: usage.inputTokens,
      cachedInputTokens: usage.cachedInputTokens,
      cacheWriteTokens: usage.cacheWriteTokens,
      outputTokens: usage.outputTokens,
      reasoningTokens: usage.reasoningTokens,
      usageBasis: usage.basis,
      rawUsage: command.rawUsage ?? null,
      usageDoubt: usage.doubt ?? null,
      estimatedPromptTokens: ended.promptTokens,
      priceVersionRequested: ended.priceVersion,
      priceVersionServed: served?.price.version ?? null,
      held: ended.amount,
      charged: amounts.charge,
      debited: amounts.debited,
      loss: amounts.loss,
      endUser: ended.endUser,
      attempts: JSON.stringify(command.attempts),
      startedAt: ended.createdAt,
      endedAt: command.nowMs,
    });
  }

  function receipt(
    ended: OpenHold,
    command: ReleaseCommand,
    amounts: Amounts,
    left: { readonly posted: Micro; readonly available: Micro },
  ): Awaitable<void> {
    const servedPrice = command.served?.price;
    return andThen(prices.read(ended.priceVersion), (price) =>
      appendReceipt({
        kind: 'request',
        accountId: ended.accountId,
        requestId: command.requestId,
        startedAt: ended.createdAt,
        endedAt: command.nowMs,
        model: ended.model,
        modelServed: command.served?.model ?? null,
        outcome: command.outcome,
        usage: command.usage,
        price,
        priceServed: servedPrice?.version === price.version ? null : (servedPrice ?? null),
        held: ended.amount,
        charged: amounts.charge,
        debited: amounts.debited,
        loss: amounts.loss,
        usdPerMillion: command.usdPerMillion,
        posted: left.posted,
        available: left.available,
      }),
    );
  }

  /** What the settle or release that came first had booked. */
  async function firstResult(requestId: string): Promise<Settlement> {
    const found = await statements.findUsageRecord(requestId);
    if (found === undefined) throw new LedgerRefusal('There is no hold with this request id.');
    const { debited, loss, accountId } = found;
    return { debited, loss, available: (await statements.balance(accountId)).available };
  }

  return endHold;
}
