// `tollgate code …`: creates redemption codes, lists and revokes them, and redeems one for an
// account. The text of a code is printed only at its creation.

import type { Command } from 'commander';
import { formatTokens } from '../core/money.ts';
import { codeId, listCodes } from '../ledger/codes.ts';
import { printedAccount, readAccount } from '../operations/account-records.ts';
import {
  CODE_COUNT_MAX,
  codeRecord,
  createNewCodes,
  redeemCode,
  revokeCode,
} from '../operations/codes.ts';
import {
  addCommand,
  addGroup,
  CommandError,
  OPERATOR,
  type Output,
  type Perform,
} from './command.ts';
import type { Context } from './context.ts';
import { listOutput, shortInstant } from './list-output.ts';
import { openAccounts, openParts } from './open-operations.ts';
import { parseCount, parseExpiry } from './parse.ts';

export function addCodeCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'code', 'make, list, revoke and redeem codes worth tokens');
  perform<CreateOptions>(
    addCommand(group, 'create', 'make codes, which are shown once')
      .requiredOption('--amount <amount>', 'service tokens that each of them is worth')
      .requiredOption('--reason <text>', 'why, for the books')
      .option('--count <number>', 'how many', '1')
      .option('--expires <date>', 'when they expire, such as 2027-01-31 or 2027-01-31T12:00:00Z'),
    create,
  );
  perform(addCommand(group, 'list', 'list all codes, without their text'), list);
  perform(addCommand(group, 'revoke <code>', 'revoke a code, by its id or its text'), revoke);
  perform<RedeemOptions>(
    addCommand(group, 'redeem <code>', 'add what a code is worth to an account').requiredOption(
      '--account <account>',
      'an account id or e-mail address',
    ),
    redeem,
  );
}

type CreateOptions = {
  readonly amount: string;
  readonly reason: string;
  readonly count: string;
  readonly expires?: string;
};

async function create(context: Context, options: CreateOptions): Promise<Output> {
  const count = parseCount(options.count, '--count') ?? 1;
  if (count > CODE_COUNT_MAX) {
    throw new CommandError('invalid_number', `--count needs a number from 1 to ${CODE_COUNT_MAX}.`);
  }
  const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires);
  const { amount, reason } = options;
  const data = await createNewCodes(
    await openParts(context),
    { amount, reason, count, expiresAt },
    OPERATOR,
  );
  const texts = data.map(({ code }) => code);
  const each = data[0]?.amount ?? amount;
  const worth = `worth ${each} service tokens${count === 1 ? '' : ' each'}`;
  const heading =
    count === 1 ? `A code ${worth}, shown only now:` : `${count} codes ${worth}, shown only now:`;
  return { json: { object: 'list', data }, text: [heading, ...texts].join('\n') };
}

async function list(context: Context): Promise<Output> {
  const nowMs = context.clock();
  const codes = await listCodes((await context.openStore()).database);
  const records = codes.map((code) => codeRecord(code, nowMs));
  const header = ['ID', 'CODE', 'AMOUNT', 'STATUS', 'CREATED', 'EXPIRES', 'REDEEMED BY', 'REASON'];
  return listOutput(records, header, (code) => [
    code.id,
    code.masked,
    code.amount,
    code.status,
    shortInstant(code.created_at),
    shortInstant(code.expires_at),
    code.redeemed_by ?? '-',
    code.reason,
  ]);
}

async function revoke(context: Context, _options: object, name = ''): Promise<Output> {
  const revoked = await revokeCode(await openParts(context), name, OPERATOR);
  return {
    json: { code: codeRecord(revoked, context.clock()) },
    text: `Code ${codeId(revoked)} (${revoked.masked}) is revoked.`,
  };
}

type RedeemOptions = { readonly account: string };

async function redeem(context: Context, options: RedeemOptions, typed = ''): Promise<Output> {
  const parts = await openAccounts(context);
  const account = await parts.accounts.find(options.account);
  const { id, amount, available } = await redeemCode(
    parts,
    { accountId: account.id, typed },
    OPERATOR,
  );
  const worth = formatTokens(amount);
  return {
    json: {
      redemption: { id, amount: worth },
      account: printedAccount(await readAccount(parts, account.id)),
    },
    text: `The code is redeemed for account ${account.id}: ${worth} service tokens. ${formatTokens(available)} are available.`,
  };
}
