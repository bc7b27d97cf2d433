// What each command does, inside the transaction of its batch: synchronous, and complete or thrown.
// `ledger.ts` calls these and nobody else; there is no other writer of money.

import { assert } from '../core/assert.ts';
import { AMOUNT_MAX, type Micro } from '../core/money.ts';
import type { Price } from '../core/price.ts';
import type {
  Balance,
  CheckpointCommand,
  CreditCommand,
  CreditResult,
  DispatchCommand,
  ExtendCommand,
  HoldCommand,
  HoldResult,
  RecoverCommand,
  Recovered,
  RedeemCommand,
  RedeemResult,
  ReleaseCommand,
  SettleCommand,
  Settlement,
} from './contract.ts';
import { LedgerRefusal } from './error.ts';
import type { EndedHold, Statements } from './statements.ts';

export type Commands = {
  readonly hold: (command: HoldCommand) => HoldResult;
  readonly dispatch: (command: DispatchCommand) => void;
  readonly extend: (command: ExtendCommand) => HoldResult;
  readonly checkpoint: (command: CheckpointCommand) => void;
  readonly settle: (command: SettleCommand) => Settlement;
  readonly release: (command: ReleaseCommand) => Settlement;
  readonly recover: (command: RecoverCommand) => readonly Recovered[];
  readonly credit: (command: CreditCommand) => CreditResult;
  readonly redeem: (command: RedeemCommand) => RedeemResult;
  /** After a rollback: what was written may be gone, so nothing counts as known any more. */
  readonly forget: () => void;
};

export function createCommands(statements: Statements): Commands {
  const knownVersions = new Set<string>();

  function hold(command: HoldCommand): HoldResult {
    const { requestId, accountId, keyId, model, amount, promptTokens, outputBound } = command;
    const left = statements.reserve(accountId, amount);
    if (left === undefined) return { ok: false, available: balance(accountId).available };
    rememberPrice(command.price, model, command.nowMs);
    statements.insertHold({
      requestId,
      accountId,
      keyId,
      format: command.format,
      stream: command.stream,
      endUser: command.endUser ?? null,
      model,
      priceVersion: command.price.version,
      amount,
      promptTokens,
      outputBound,
      phase: 'held',
      upstream: null,
      modelServed: null,
      priceVersionServed: null,
      outputTokens: 0,
      reasoningTokens: 0,
      createdAt: command.nowMs,
      dispatchedAt: null,
      checkpointAt: null,
      endedAt: null,
    });
    return { ok: true, available: left };
  }

  function dispatch({ requestId, served, nowMs }: DispatchCommand): void {
    const { model, upstream, price } = served;
    rememberPrice(price, model, nowMs);
    statements.dispatchHold({
      requestId,
      upstream,
      modelServed: model,
      priceVersionServed: price.version,
      dispatchedAt: nowMs,
    });
  }

  function extend({ requestId, amount }: ExtendCommand): HoldResult {
    const open = statements.findOpenHold(requestId);
    if (open === undefined) throw new LedgerRefusal('There is no open hold with this request id.');
    const more = amount - open.amount;
    if (more <= 0n) return { ok: true, available: balance(open.accountId).available };
    const left = statements.reserve(open.accountId, more);
    if (left === undefined) return { ok: false, available: balance(open.accountId).available };
    statements.extendHold({ requestId, amount });
    return { ok: true, available: left };
  }

  function checkpoint(command: CheckpointCommand): void {
    statements.checkpointHold(command);
  }

  function settle(command: SettleCommand): Settlement {
    const ended = statements.endHold({
      requestId: command.requestId,
      phase: 'settled',
      endedAt: command.nowMs,
    });
    if (ended === undefined) return firstResult(command.requestId);
    const { requestId, charge, nowMs: at } = command;
    const debited = payable(ended, charge);
    const loss = charge - debited;
    if (debited > 0n) {
      statements.insertTransfer({
        transferId: `settle:${requestId}`,
        ledgerAccount: 'operator:revenue',
        counterAccount: `customer:${ended.accountId}`,
        amount: debited,
        kind: 'settle',
        at,
        reason: null,
      });
    }
    if (loss > 0n) {
      statements.insertTransfer({
        transferId: `loss:${requestId}`,
        ledgerAccount: 'operator:revenue',
        counterAccount: 'operator:loss',
        amount: loss,
        kind: 'loss',
        at,
        reason: null,
      });
    }
    return endRequest(ended, command, { charge, debited, loss });
  }

  function release(command: ReleaseCommand): Settlement {
    const ended = statements.endHold({
      requestId: command.requestId,
      phase: 'released',
      endedAt: command.nowMs,
    });
    if (ended === undefined) return firstResult(command.requestId);
    return endRequest(ended, command, { charge: 0n, debited: 0n, loss: 0n });
  }

  function credit(command: CreditCommand): CreditResult {
    const { creditId, accountId, amount } = command;
    const transferId = `credit:${creditId}`;
    const ledgerAccount = `customer:${accountId}`;
    const booked = statements.findEntries(transferId);
    if (booked.length > 0) {
      const same = booked.some(
        (entry) => entry.ledgerAccount === ledgerAccount && entry.amount === amount,
      );
      if (same) return { available: balance(accountId).available, applied: false };
      throw new LedgerRefusal('This credit id was used before, for another account or amount.');
    }
    const left = statements.deposit(accountId, amount);
    if (left === undefined) {
      balance(accountId);
      throw new LedgerRefusal('The credit would take the balance above the largest amount.');
    }
    statements.insertTransfer({
      transferId,
      ledgerAccount,
      counterAccount: 'operator:credits',
      amount,
      kind: command.kind,
      at: command.nowMs,
      reason: command.reason,
    });
    return { available: left.available, applied: true };
  }

  function balance(accountId: string): Balance {
    const found = statements.findBalance(accountId);
    if (found === undefined) throw new LedgerRefusal('There is no account with this id.');
    return found;
  }

  /** A charge within the hold is always covered; above it, the available balance pays down to zero. */
  function payable(ended: EndedHold, charge: Micro): Micro {
    if (charge <= ended.amount) return charge;
    const most = balance(ended.accountId).available + ended.amount;
    return charge < most ? charge : most;
  }

  function endRequest(
    ended: EndedHold,
    command: ReleaseCommand,
    amounts: { readonly charge: Micro; readonly debited: Micro; readonly loss: Micro },
  ): Settlement {
    const { charge, debited, loss } = amounts;
    const { served, usage } = command;
    const left = statements.spend(ended.accountId, ended.amount, debited);
    assert(left !== undefined, 'a hold has an account with a balance');
    if (served !== undefined) rememberPrice(served.price, served.model, command.nowMs);
    statements.insertUsageRecord({
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
      estimatedPromptTokens: ended.promptTokens,
      priceVersionRequested: ended.priceVersion,
      priceVersionServed: served?.price.version ?? null,
      held: ended.amount,
      charged: charge,
      debited,
      loss,
      endUser: ended.endUser,
      attempts: JSON.stringify(command.attempts),
      startedAt: ended.createdAt,
      endedAt: command.nowMs,
    });
    return { debited, loss, available: left };
  }

  /** What the settle or release that came first had booked. */
  function firstResult(requestId: string): Settlement {
    const record = statements.findUsageRecord(requestId);
    if (record === undefined) throw new LedgerRefusal('There is no hold with this request id.');
    const { debited, loss, accountId } = record;
    return { debited, loss, available: balance(accountId).available };
  }

  /** A version is a name for its numbers: `explain` computes charges again from this row. */
  function rememberPrice(price: Price, model: string, nowMs: number): void {
    const { version, input, cachedInput, cacheWrite, output } = price;
    if (knownVersions.has(version)) return;
    statements.insertPriceVersion({ ...price, model, firstUsedAt: nowMs });
    const found = statements.findPriceVersion(version);
    const same =
      found?.input === input &&
      found.cachedInput === cachedInput &&
      found.cacheWrite === cacheWrite &&
      found.output === output;
    assert(same, `price version ${version} was used before with other prices`);
    knownVersions.add(version);
  }

  function recover(_command: RecoverCommand): readonly Recovered[] {
    throw new LedgerRefusal('Recovery is not there yet.');
  }

  function redeem(_command: RedeemCommand): RedeemResult {
    throw new LedgerRefusal('Codes are not there yet.');
  }

  return {
    hold,
    dispatch,
    extend,
    checkpoint,
    settle,
    release,
    recover,
    credit,
    redeem,
    forget: () => knownVersions.clear(),
  };
}

/** Refuses an amount that no caller may ask for, before it is queued. */
export function requireAmount(amount: Micro, least: Micro): void {
  if (amount >= least && amount <= AMOUNT_MAX) return;
  throw new LedgerRefusal('The amount is outside what the ledger accepts.');
}
