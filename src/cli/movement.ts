// `tollgate account credit|grant|adjust`: money that a customer paid in, money that is given away,
// and corrections up or down. Each is booked once by its id, however often the command runs.

import type { Command } from 'commander';
import { createId } from '../core/id.ts';
import {
  AMOUNT_MAX,
  formatTokens,
  MICRO_DECIMALS,
  type Micro,
  parseDecimal,
} from '../core/money.ts';
import type { CreditCommand } from '../ledger/contract.ts';
import { accountRecord, openAccounts } from './account-record.ts';
import { addCommand, CommandError, type Output, type Perform, parseAmount } from './command.ts';
import type { Context } from './context.ts';

type Kind = CreditCommand['kind'];

const WORDS: Readonly<Record<Kind, string>> = {
  credit: 'Credited',
  grant: 'Granted',
  adjustment: 'Adjusted by',
};

export function addMovementCommands(group: Command, perform: Perform): void {
  perform<MovementOptions>(
    withId(addCommand(group, 'credit <account> <amount>', 'add what a customer has paid')).option(
      '--reason <text>',
      'why, for the books',
      'credited by the operator',
    ),
    (context, options, account, amount) => {
      return move(context, 'credit', parseAmount(amount ?? ''), options, account);
    },
  );
  perform<MovementOptions>(
    withId(
      addCommand(group, 'grant <account> <amount>', 'give service tokens away'),
    ).requiredOption('--reason <text>', 'why, for the books'),
    (context, options, account, amount) => {
      return move(context, 'grant', parseAmount(amount ?? ''), options, account);
    },
  );
  perform<MovementOptions>(
    withId(
      addCommand(group, 'adjust <account> <amount>', 'correct a balance, up or down (-12.5)'),
    ).requiredOption('--reason <text>', 'why, for the books'),
    (context, options, account, amount) => {
      return move(context, 'adjustment', parseAdjustment(amount ?? ''), options, account);
    },
  );
}

type MovementOptions = { readonly reason: string; readonly id?: string };

function withId(command: Command): Command {
  return command.option('--id <id>', 'names this movement: the same id is never booked twice');
}

async function move(
  context: Context,
  kind: Kind,
  amount: Micro,
  options: MovementOptions,
  name = '',
): Promise<Output> {
  if (options.id !== undefined) requireId(options.id);
  const reason = requireReason(options.reason);
  const { accounts, ledger } = openAccounts(context);
  const account = accounts.find(name);
  const id = options.id ?? createId('cred_', context.randomBytes);
  const { applied, available } = await ledger.credit({
    creditId: id,
    accountId: account.id,
    kind,
    amount,
    reason,
    nowMs: context.clock(),
  });
  const movement = { id, kind, amount: formatTokens(amount), reason, applied };
  const left = `${formatTokens(available)} service tokens are available`;
  const text = applied
    ? `${WORDS[kind]} ${movement.amount} service tokens under the id ${id}; ${left}.`
    : `The ${kind} ${id} was booked before; nothing has changed now. ${left}.`;
  return { json: { [kind]: movement, account: accountRecord(context, account) }, text };
}

function requireId(id: string): void {
  if (/^[\x21-\x7e]{1,100}$/.test(id)) return;
  throw new CommandError(
    'invalid_credit_id',
    'The id is not valid. It needs 1 to 100 printable ASCII characters without spaces.',
  );
}

/** What stands in the books beside an amount; throws `invalid_reason`. */
export function requireReason(text: string): string {
  const reason = text.trim();
  if (reason.length > 0 && reason.length <= 500) return reason;
  throw new CommandError(
    'invalid_reason',
    'The reason is not valid. It needs 1 to 500 characters; it is kept in the books for good.',
  );
}

/** Reads an amount of either sign, but not zero. Throws `invalid_amount`. */
function parseAdjustment(text: string): Micro {
  const amount = parseDecimal(text.replace(/^\+/, ''), MICRO_DECIMALS);
  const size = amount === undefined || amount >= 0n ? amount : -amount;
  if (amount !== undefined && size !== undefined && size > 0n && size <= AMOUNT_MAX) return amount;
  throw new CommandError(
    'invalid_amount',
    'The amount is not valid. It needs to be a number of service tokens above or below zero, at most 1000000000000, with at most 6 decimals, such as 12.5 or -12.5.',
  );
}
