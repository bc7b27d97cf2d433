// Ends a hold, and is the only place that does: takes the charge and writes one row with the
// request, its usage, who paid and its receipt. A request that cost nothing has no row where its
// account has many of them that day. `commands.ts` and `recover.ts` call it.

import { assert } from '../core/assert.ts';
import { isRestricted } from '../core/exposure.ts';
import { AMOUNT_MAX, add, type Micro, smaller, subtract, ZERO } from '../core/money.ts';
import { packReport } from '../core/usage-details.ts';
import { endingCode, type HoldEnd } from '../store/columns.ts';
import type { LedgerBatch } from './batch.ts';
import type { ReleaseCommand, SettleCommand, Settlement } from './contract.ts';
import { budgetPays, spend } from './key-budgets.ts';
import type { OpenHold, RequestRow } from './memory.ts';
import { receiptOf } from './receipts.ts';

/** The attempts of a request that never reached an upstream, as JSON. */
export const NO_ATTEMPTS = '[]';

type Ending = ReleaseCommand & Pick<SettleCommand, 'withinHold'>;

/**
 * Ends an open hold and takes `charge`. Throws where the books contradict it, and changes nothing.
 */
export function endHold(
  batch: LedgerBatch,
  hold: OpenHold,
  command: Ending,
  charge: Micro,
  ending: HoldEnd,
): Settlement {
  const { memory, changes } = batch;
  const { account, row: held } = hold;
  if (isCounted(batch, hold, command, ending)) return endUncharged(batch, hold);
  const debited = payable(hold, charge, command);
  const loss = subtract(charge, debited);
  const posted = subtract(account.posted, debited);
  const stillHeld = subtract(account.held, held.amount);
  assert(stillHeld >= 0n && stillHeld <= posted, 'a hold is part of its balance');
  const available = subtract(posted, stillHeld);
  const amounts = { charge, debited, loss, available };
  const row = requestRow(batch, hold, command, amounts, ending);
  account.posted = posted;
  account.held = stillHeld;
  const wasRestricted = isRestricted(account.unpaid);
  account.unpaid = smaller(add(account.unpaid, loss), AMOUNT_MAX);
  account.sequence = row.sequence;
  account.head = row.hash;
  account.receipted = row.posted;
  memory.removeHold(hold);
  spend(batch, hold, debited, command.nowMs);
  changes.accounts.add(account);
  changes.requests.set(row.id, row);
  changes.end(hold);
  const isNew = isRestricted(account.unpaid) && !wasRestricted;
  return isNew ? { debited, loss, available, restricted: true } : { debited, loss, available };
}

/** Recovered requests have their rows: no client was answered. */
function isCounted(
  { memory }: LedgerBatch,
  { row }: OpenHold,
  { failure, nowMs }: Ending,
  ending: HoldEnd,
): boolean {
  if (ending !== 'released' || failure === 'recovered' || row.checkpointAt !== null) return false;
  return !memory.unpaidRows.take(row.account, nowMs);
}

function endUncharged({ memory, changes }: LedgerBatch, hold: OpenHold): Settlement {
  const { account, row } = hold;
  account.held = subtract(account.held, row.amount);
  memory.removeHold(hold);
  changes.accounts.add(account);
  changes.end(hold);
  return { debited: ZERO, loss: ZERO, available: account.available, counted: true };
}

/**
 * A charge within the hold is always covered. Above it, the available balance pays down to zero,
 * unless the charge is limited to the hold, and a budget pays down to zero as well.
 */
function payable(hold: OpenHold, charge: Micro, { withinHold, nowMs }: Ending): Micro {
  const { account, row } = hold;
  if (charge <= row.amount) return charge;
  if (withinHold === true) return row.amount;
  const covered = smaller(charge, add(account.available, row.amount));
  return smaller(covered, budgetPays(hold, nowMs) ?? covered);
}

type Amounts = Settlement & { readonly charge: Micro };

function requestRow(
  { names }: LedgerBatch,
  hold: OpenHold,
  command: Ending,
  { charge, debited, loss, available }: Amounts,
  ending: HoldEnd,
): RequestRow {
  const { account, row } = hold;
  const { served, usage, rawUsage, attempts } = command;
  const stated = receiptOf(account, subtract(account.receipted, debited), available, {
    kind: 'request',
    requestId: row.id,
    startedAt: row.startedAt,
    endedAt: command.nowMs,
    model: hold.modelSlug,
    modelServed: served?.model ?? null,
    outcome: command.outcome,
    usage,
    price: hold.requestedPrice,
    priceServed:
      served === undefined || served.price.version === hold.requestedPrice.version
        ? null
        : served.price,
    held: row.amount,
    charged: charge,
    debited,
    loss,
    usdPerMillion: command.usdPerMillion,
  });
  return {
    id: row.id,
    account: row.account,
    key: row.key,
    format: row.format,
    stream: row.stream,
    model: row.model,
    price: row.price,
    promptTokens: row.promptTokens,
    outputBound: row.outputBound,
    startedAt: row.startedAt,
    // Rows and names of unpaid requests would hide those of end users who pay (decision 0170).
    endUser: ending === 'settled' || charge > ZERO ? row.endUser : null,
    durationMs: command.nowMs - row.startedAt,
    outcome: command.outcome,
    ending: endingCode(ending, command.failure ?? null),
    upstream: served === undefined ? null : names.numberOf(served.upstream),
    modelServed: served === undefined ? null : names.numberOf(served.model),
    priceServed: served === undefined ? null : names.priceNumberOf(served.price),
    inputTokens: usage.inputTokens,
    cachedInputTokens: usage.cachedInputTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    outputTokens: usage.outputTokens,
    reasoningTokens: usage.reasoningTokens,
    basis: usage.basis,
    doubt: usage.doubt ?? null,
    held: row.amount,
    charged: charge,
    loss,
    usdPerMillion: command.usdPerMillion,
    sequence: stated.sequence,
    posted: stated.posted,
    reserved: stated.reserved,
    hash: stated.hash,
    report: packReport(rawUsage, usage, names.packer),
    attempts: attempts === NO_ATTEMPTS ? null : names.packer.pack(attempts),
  };
}
