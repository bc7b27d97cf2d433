// `tollgate account credit|grant|adjust|movements`: books payments, gifts, and corrections up or
// down. Each is booked once by its id, even if the command is repeated.

import type { Command } from 'commander';
import { formatTokens } from '../core/money.ts';
import { listMovements } from '../ledger/receipt-list.ts';
import { printedAccount, readAccount } from '../operations/account-records.ts';
import {
  type MovementKind,
  movedRecord,
  moveMoney,
  movementRecord,
} from '../operations/movements.ts';
import { addCommand, OPERATOR, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';
import { listOutput, shortInstant } from './list-output.ts';
import { openAccounts, openParts } from './open-operations.ts';
import { parseCount } from './parse.ts';

const WORDS: Readonly<Record<MovementKind, string>> = {
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
    (context, options, account, amount) => move(context, 'credit', options, account, amount),
  );
  const givings = [
    ['grant', 'grant <account> <amount>', 'give service tokens away'],
    ['adjustment', 'adjust <account> <amount>', 'correct a balance, up or down (-12.5)'],
  ] as const;
  for (const [kind, signature, about] of givings) {
    perform<MovementOptions>(
      withId(addCommand(group, signature, about)).requiredOption(
        '--reason <text>',
        'why, for the books',
      ),
      (context, options, account, amount) => move(context, kind, options, account, amount),
    );
  }
  perform<ListOptions>(
    addCommand(group, 'movements <account>', 'list movements of money, newest first').option(
      '--limit <number>',
      'how many at most',
      '100',
    ),
    list,
  );
}

type MovementOptions = { readonly reason: string; readonly id?: string };

function withId(command: Command): Command {
  return command.option('--id <id>', 'the id of this movement, which is booked only once');
}

async function move(
  context: Context,
  kind: MovementKind,
  options: MovementOptions,
  name = '',
  amount = '',
): Promise<Output> {
  const parts = await openAccounts(context);
  const { id, reason } = options;
  const account = await parts.accounts.find(name);
  const moved = await moveMoney(parts, { kind, account, amount, reason, id }, OPERATOR);
  const movement = movedRecord(moved);
  const left = `${formatTokens(moved.available)} service tokens are available`;
  const text = movement.applied
    ? `${WORDS[kind]} ${movement.amount} service tokens under the id ${moved.id}; ${left}.`
    : `The ${kind} ${moved.id} was already booked; nothing has changed. ${left}.`;
  return {
    json: { [kind]: movement, account: printedAccount(await readAccount(parts, account.id)) },
    text,
  };
}

type ListOptions = { readonly limit: string };

async function list(context: Context, options: ListOptions, name = ''): Promise<Output> {
  const limit = parseCount(options.limit, '--limit') ?? 1;
  const { accounts, database } = await openParts(context);
  const { id } = await accounts.find(name);
  const records = (await listMovements(database.db, id, { limit, before: undefined })).map(
    movementRecord,
  );
  const header = ['WHEN', 'KIND', 'AMOUNT', 'BALANCE', 'TRANSFER', 'REASON'];
  return listOutput(records, header, (each) => [
    shortInstant(each.at),
    each.kind,
    each.amount,
    each.balance,
    each.transfer_id,
    each.reason ?? '-',
  ]);
}
