// Applies each command to its accounts and holds, as arithmetic without a database. A command that
// throws has changed nothing. `writer.ts` calls these inside the transaction of a batch; nothing
// else writes money.

import { exposureRoom } from '../core/exposure.ts';
import { AMOUNT_MAX, add, larger, type Micro, smaller, subtract, ZERO } from '../core/money.ts';
import { accountOf, type LedgerBatch } from './batch.ts';
import type {
  CheckpointCommand,
  CommandTypes,
  ExtendCommand,
  HoldCommand,
  HoldResult,
  LedgerRequest,
  Recovered,
  Settlement,
} from './contract.ts';
import { credit, redeem } from './credits.ts';
import { endHold } from './end-hold.ts';
import { LedgerRefusal } from './error.ts';
import { reserve, reserveMore, setBudget } from './key-budgets.ts';
import type { AccountBooks, Memory, OpenHold, OpenHoldRow } from './memory.ts';
import { recover } from './recover.ts';

/** Throws `LedgerRefusal` where the command cannot be carried out. */
export function perform(batch: LedgerBatch, request: LedgerRequest): unknown {
  switch (request.name) {
    case 'hold':
      return hold(batch, request.command);
    case 'extend':
      return extend(batch, request.command);
    case 'checkpoint':
      return checkpoint(batch, request.command);
    case 'settle':
      return end(batch, request.command, request.command.charge, 'settled');
    case 'release':
      return end(batch, request.command, ZERO, 'released');
    case 'recover':
      return recover(batch, request.command) satisfies readonly Recovered[];
    case 'credit':
      return credit(batch, request.command);
    case 'redeem':
      return redeem(batch, request.command);
    case 'budget':
      return setBudget(batch, request.command);
  }
}

function hold(batch: LedgerBatch, command: HoldCommand): HoldResult {
  const { memory, changes } = batch;
  const { requestId, accountId, amount, excess = ZERO, hidden = ZERO } = command;
  const first = memory.holds.get(requestId);
  if (first !== undefined) return firstHold(command, first);
  if (batch.facts.ended.has(requestId) || changes.requests.has(requestId)) {
    throw new LedgerRefusal('This request has ended already.');
  }
  const account = accountOf(batch, accountId);
  const left = subtract(account.available, amount);
  const worst = worstCase(amount, add(excess, smaller(hidden, left)));
  const refusal = refusalOf(account, amount, undefined, worst);
  if (refusal !== undefined) return refusal;
  const budget = reserve(account, familyNumber(batch, command), command, left);
  if (budget?.kind === 'refused') {
    return { ok: false, available: account.available, budget: budget.room };
  }
  const row = newHold(batch, account, command, worst, budget?.amount ?? null);
  const opened: OpenHold = {
    account,
    modelSlug: command.model,
    requestedPrice: command.price,
    row,
  };
  account.held = add(account.held, amount);
  memory.putHold(opened);
  changes.accounts.add(account);
  changes.opened.add(opened);
  return heldBy(command, row, left);
}

function familyNumber({ names }: LedgerBatch, { family, keyId }: HoldCommand): number {
  return names.numberOf(family ?? keyId);
}

function heldBy(
  { amount, excess = ZERO }: HoldCommand,
  { budgeted }: OpenHoldRow,
  available: Micro,
): HoldResult {
  if (budgeted === null) return { ok: true, available };
  const left = larger(ZERO, subtract(budgeted, add(amount, excess)));
  return { ok: true, available, budget: { left } };
}

/**
 * Why `more` cannot be reserved: the balance does not cover it, or the worst case of the account's
 * open holds leaves no room. Changes nothing.
 */
function refusalOf(
  account: AccountBooks,
  more: Micro,
  raised: OpenHold | undefined,
  worst: Micro,
): HoldResult | undefined {
  const { available } = account;
  if (available < more) return { ok: false, available };
  const others = account.exposure(raised);
  const room = exposureRoom(account, others);
  if (room === undefined || worst <= room) return undefined;
  return { ok: false, available, uncovered: { room, openHolds: others.count } };
}

/** The answer to a repeated hold, which reserves nothing again. */
function firstHold(command: HoldCommand, { account, row, ...found }: OpenHold): HoldResult {
  // The first hold may have been extended since; everything else is unchanged.
  const isRepeated =
    account.id === command.accountId &&
    found.modelSlug === command.model &&
    found.requestedPrice.version === command.price.version &&
    row.amount >= command.amount &&
    row.promptTokens === command.promptTokens &&
    row.outputBound === command.outputBound &&
    row.startedAt === command.nowMs;
  if (!isRepeated) throw new LedgerRefusal('This request id was used before, for another hold.');
  return heldBy(command, row, account.available);
}

function extend({ memory, changes }: LedgerBatch, command: ExtendCommand): HoldResult {
  const { requestId, amount, excess = ZERO } = command;
  const open = openHold(memory, requestId);
  const { account, row } = open;
  const more = subtract(amount, row.amount);
  if (more <= 0n) return { ok: true, available: account.available };
  const worst = larger(row.worst, worstCase(amount, excess));
  const refusal = refusalOf(account, more, open, worst);
  if (refusal !== undefined) return refusal;
  const budget = reserveMore(open, worstCase(amount, excess));
  if (budget?.kind === 'refused') {
    return { ok: false, available: account.available, budget: budget.room };
  }
  account.held = add(account.held, more);
  account.put(open, { ...row, amount, worst, budgeted: budget?.amount ?? row.budgeted });
  changes.accounts.add(account);
  changes.change(open);
  return { ok: true, available: account.available };
}

function checkpoint({ memory, names, changes }: LedgerBatch, command: CheckpointCommand): void {
  const open = openHold(memory, command.requestId);
  const { row } = open;
  const { model, upstream, price } = command.served;
  open.account.put(open, {
    ...row,
    checkpointAt: command.nowMs,
    modelServed: names.numberOf(model),
    upstream: names.numberOf(upstream),
    priceServed: names.priceNumberOf(price),
    outputTokens: Math.max(row.outputTokens, command.outputTokens),
    reasoningTokens: Math.max(row.reasoningTokens, command.reasoningTokens),
  });
  changes.change(open);
}

function openHold(memory: Memory, requestId: string): OpenHold {
  const open = memory.holds.get(requestId);
  if (open === undefined) throw new LedgerRefusal('There is no open hold with this request id.');
  return open;
}

/** The first of `settle` and `release` counts; later ones return the same settlement. */
function end(
  batch: LedgerBatch,
  command: CommandTypes['settle'] | CommandTypes['release'],
  charge: Micro,
  ending: 'settled' | 'released',
): Settlement {
  const { requestId } = command;
  const open = batch.memory.holds.get(requestId);
  if (open !== undefined) return endHold(batch, open, command, charge, ending);
  const ended = batch.facts.ended.get(requestId) ?? endedInBatch(batch, requestId);
  if (ended === undefined) throw new LedgerRefusal('There is no hold with this request id.');
  const { account, debited, loss } = ended;
  return { debited, loss, available: account.available };
}

function endedInBatch({ changes, memory }: LedgerBatch, requestId: string) {
  const row = changes.requests.get(requestId);
  const account = row && memory.accountsByNumber.get(row.account);
  if (row === undefined || account === undefined) return undefined;
  return { account, debited: subtract(row.charged, row.loss), loss: row.loss };
}

function newHold(
  { names }: LedgerBatch,
  account: AccountBooks,
  command: HoldCommand,
  worst: Micro,
  budgeted: Micro | null,
): OpenHoldRow {
  return {
    id: command.requestId,
    account: account.number,
    key: names.numberOf(command.keyId),
    format: command.format,
    stream: command.stream,
    model: names.numberOf(command.model),
    price: names.priceNumberOf(command.price),
    promptTokens: command.promptTokens,
    outputBound: command.outputBound,
    startedAt: command.nowMs,
    endUser: command.endUser ?? null,
    amount: command.amount,
    worst,
    incarnation: command.boot === undefined ? null : names.numberOf(command.boot),
    checkpointAt: null,
    upstream: null,
    modelServed: null,
    priceServed: null,
    outputTokens: 0,
    reasoningTokens: 0,
    family: command.family === undefined ? null : names.numberOf(command.family),
    budgeted,
  };
}

function worstCase(amount: Micro, beyond: Micro): Micro {
  return larger(amount, smaller(add(amount, beyond), AMOUNT_MAX));
}

/** Rejects an invalid amount before it is queued. */
export function requireAmount(amount: Micro, least: Micro): void {
  if (amount >= least && amount <= AMOUNT_MAX) return;
  throw new LedgerRefusal('The amount is outside what the ledger accepts.');
}
