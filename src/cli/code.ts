// `tollgate code …`: make codes that are worth service tokens, list and revoke them, and redeem one
// for an account. The text of a code is printed when it is made and never again.

import type { Command } from 'commander';
import { isoTime } from '../core/calendar.ts';
import { createId } from '../core/id.ts';
import { formatTokens } from '../core/money.ts';
import { createRedemptionCode, readRedemptionCode } from '../core/redemption-code.ts';
import { writeAuditEvent } from '../identity/audit.ts';
import {
  type CodeRecord,
  type Codes,
  codeDigest,
  codeId,
  codeStatus,
  createCodes,
} from '../ledger/codes.ts';
import type { RedeemResult } from '../ledger/contract.ts';
import { accountRecord, openAccounts } from './account-record.ts';
import {
  addCommand,
  addGroup,
  CommandError,
  OPERATOR,
  type Output,
  type Perform,
  parseAmount,
  parseCount,
  parseExpiry,
  shortTime,
  table,
} from './command.ts';
import type { Context } from './context.ts';
import { requireReason } from './movement.ts';

/** More than anybody prints at once, and little enough for one transaction. */
const COUNT_MAX = 10_000;

export function addCodeCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'code', 'make, list, revoke and redeem codes worth tokens');
  perform<CreateOptions>(
    addCommand(group, 'create', 'make codes, which are shown once')
      .requiredOption('--amount <amount>', 'service tokens that each of them is worth')
      .requiredOption('--reason <text>', 'why, for the books')
      .option('--count <number>', 'how many', '1')
      .option('--expires <date>', 'when they end, such as 2027-01-31 or 2027-01-31T12:00:00Z'),
    createNewCodes,
  );
  perform(addCommand(group, 'list', 'list all codes, without their text'), listCodes);
  perform(
    addCommand(group, 'revoke <code>', 'make a code worthless; named by its id or its text'),
    revokeCode,
  );
  perform<RedeemOptions>(
    addCommand(group, 'redeem <code>', 'add what a code is worth to an account').requiredOption(
      '--account <account>',
      'an account id or e-mail address',
    ),
    redeemCode,
  );
}

type CreateOptions = {
  readonly amount: string;
  readonly reason: string;
  readonly count: string;
  readonly expires?: string;
};

function createNewCodes(context: Context, options: CreateOptions): Output {
  const amount = parseAmount(options.amount);
  const reason = requireReason(options.reason);
  const count = parseCount(options.count, '--count') ?? 1;
  if (count > COUNT_MAX) {
    throw new CommandError('invalid_number', `--count needs a number from 1 to ${COUNT_MAX}.`);
  }
  const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires);
  const nowMs = context.clock();
  if (expiresAt !== undefined && expiresAt <= nowMs) {
    throw new CommandError('invalid_expiry', 'The expiry date is over. Give a later one.');
  }
  const texts = Array.from({ length: count }, () => createRedemptionCode(context.randomBytes));
  const records = openCodes(context).add(texts, { amount, reason, expiresAt, nowMs });
  const data = records.map((record, index) => {
    return { code: texts[index], ...codeRecord(record, nowMs) };
  });
  const worth = `worth ${formatTokens(amount)} service tokens${count === 1 ? '' : ' each'}`;
  const heading =
    count === 1 ? `A code ${worth}, shown only now:` : `${count} codes ${worth}, shown only now:`;
  return { json: { object: 'list', data }, text: [heading, ...texts].join('\n') };
}

function listCodes(context: Context): Output {
  const nowMs = context.clock();
  const records = openCodes(context).list();
  const rows = records.map((code) => [
    codeId(code),
    code.masked,
    formatTokens(code.amount),
    codeStatus(code, nowMs),
    shortTime(code.createdAt),
    code.expiresAt === null ? '-' : shortTime(code.expiresAt),
    code.redeemedBy ?? '-',
    code.reason,
  ]);
  return {
    json: { object: 'list', data: records.map((code) => codeRecord(code, nowMs)) },
    text: table(
      ['ID', 'CODE', 'AMOUNT', 'STATUS', 'CREATED', 'EXPIRES', 'REDEEMED BY', 'REASON'],
      rows,
    ),
  };
}

function revokeCode(context: Context, _options: object, name = ''): Output {
  const typed = readRedemptionCode(name);
  const nowMs = context.clock();
  const revoked = openCodes(context).revoke(
    typed === undefined ? name.toLowerCase() : codeDigest(typed),
    nowMs,
  );
  return {
    json: { code: codeRecord(revoked, nowMs) },
    text: `Code ${codeId(revoked)} (${revoked.masked}) is revoked.`,
  };
}

type RedeemOptions = { readonly account: string };

async function redeemCode(context: Context, options: RedeemOptions, typed = ''): Promise<Output> {
  const code = readRedemptionCode(typed);
  if (code === undefined) {
    throw new CommandError(
      'invalid_code',
      'This is not a code: at least one character is wrong, missing or too many. Look at it again.',
    );
  }
  const { accounts, ledger } = openAccounts(context);
  const account = accounts.find(options.account);
  const digest = codeDigest(code);
  const result = await ledger.redeem({ digest, accountId: account.id, nowMs: context.clock() });
  if (result.kind === 'refused') throw refusal(result.why);
  const amount = formatTokens(result.amount);
  return {
    json: {
      redemption: { id: codeId({ digest }), amount },
      account: accountRecord(context, account),
    },
    text: `The code is redeemed for account ${account.id}: ${amount} service tokens. ${formatTokens(result.available)} are available.`,
  };
}

function refusal(why: Extract<RedeemResult, { kind: 'refused' }>['why']): CommandError {
  switch (why) {
    case 'unknown':
      return new CommandError('code_not_found', 'There is no such code, though it is well formed.');
    case 'used':
      return new CommandError('code_used', 'This code was redeemed by another account.');
    case 'expired':
      return new CommandError('code_expired', 'This code has expired; nothing was added.');
    case 'revoked':
      return new CommandError('code_revoked', 'This code was revoked; nothing was added.');
  }
}

function openCodes(context: Context): Codes {
  const { database } = context.openStore();
  const operationId = createId('op_', context.randomBytes);
  return createCodes({
    database,
    onChange: (action, code) =>
      writeAuditEvent(database, {
        operationId,
        at: context.clock(),
        actor: OPERATOR,
        action,
        subject: codeId(code),
        detail: { amount: formatTokens(code.amount), reason: code.reason },
      }),
  });
}

function codeRecord(code: CodeRecord, nowMs: number) {
  const time = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));
  return {
    id: codeId(code),
    object: 'redemption_code',
    masked: code.masked,
    amount: formatTokens(code.amount),
    status: codeStatus(code, nowMs),
    reason: code.reason,
    created_at: isoTime(code.createdAt),
    expires_at: time(code.expiresAt),
    revoked_at: time(code.revokedAt),
    redeemed_at: time(code.redeemedAt),
    redeemed_by: code.redeemedBy,
  } as const;
}
