// `tollgate account …`: create, look at and change accounts. An account is named by its id or by its
// e-mail address. What moves money in and out of it is in `movement.ts`.

import { type Command, Option } from 'commander';
import type { Standing } from '../core/admit.ts';
import { DEFAULT_PLAN } from '../core/plan.ts';
import type { Account } from '../identity/accounts.ts';
import { keyRecord } from '../identity/key-record.ts';
import {
  type AccountFilter,
  accountRecord,
  printedAccount,
  readAccount,
  searchAccounts,
} from '../operations/account-records.ts';
import { changeStanding, createAccount } from '../operations/accounts.ts';
import type { OperationDependencies } from '../operations/dependencies.ts';
import {
  addCommand,
  addGroup,
  OPERATOR,
  type Output,
  type Perform,
  shortTime,
  table,
} from './command.ts';
import type { Context } from './context.ts';
import { keyTable } from './key.ts';
import { addMovementCommands } from './movement.ts';
import { openAccounts } from './open-operations.ts';
import { openPeople } from './operator.ts';

export function addAccountCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'account', 'create, look at and change accounts');
  perform<CreateOptions>(
    addCommand(group, 'create', 'create an account with its first key, which is shown once')
      .requiredOption('--email <address>', "the customer's e-mail address")
      .option('--plan <slug>', 'its plan', DEFAULT_PLAN)
      .option('--credit <amount>', 'service tokens to start with')
      .option('--verified', 'take the e-mail address for verified')
      .option('--name <text>', 'a name for the key'),
    create,
  );
  perform<ListOptions>(
    addCommand(group, 'list', 'list all accounts, or those that fit')
      .option('--search <text>', 'a part of the e-mail address, or what the id begins with')
      .option('--plan <slug>', 'those on this plan')
      .addOption(
        new Option('--standing <standing>', 'those that stand so').choices([
          'active',
          'suspended',
          'pending_deletion',
          'blocked',
        ]),
      ),
    listAccounts,
  );
  perform(addCommand(group, 'show <account>', 'show an account and its keys'), showAccount);
  addMovementCommands(group, perform);
  perform(
    addCommand(group, 'plan <account> <plan>', 'change the plan, at once'),
    async (context, _options, account = '', plan = '') => {
      const parts = await openAccounts(context);
      const { accounts } = parts;
      const changed = await accounts.changePlan((await accounts.find(account)).id, plan, OPERATOR);
      return changedOutput(parts, changed, `is on the plan ${changed.plan}`);
    },
  );
  perform(
    addCommand(group, 'verify <account>', 'take the e-mail address for verified'),
    async (context, _options, account = '') => {
      const parts = await openAccounts(context);
      const { accounts } = parts;
      const changed = await accounts.verifyEmail((await accounts.find(account)).id, OPERATOR);
      return changedOutput(parts, changed, 'has a verified e-mail address');
    },
  );
  perform(
    addCommand(group, 'second-factor-off <account>', 'for who has lost it; ends all sessions'),
    async (context, _options, account = '') => {
      const parts = await openAccounts(context);
      const { id } = await parts.accounts.find(account);
      await (await openPeople(context)).dropSecondFactor(id, OPERATOR);
      return changedOutput(parts, await parts.accounts.get(id), 'has no second factor');
    },
  );
  addStandingCommand(group, perform, 'suspend', 'suspended', 'refuse its requests');
  addStandingCommand(group, perform, 'activate', 'active', 'serve it (again)');
  addStandingCommand(
    group,
    perform,
    'delete',
    'pending_deletion',
    'mark it for deletion: it is refused, its keys and books are kept, its kept thinking is not',
  );
}

function addStandingCommand(
  group: Command,
  perform: Perform,
  name: string,
  standing: Standing,
  about: string,
): void {
  perform<{ readonly reason?: string }>(
    addCommand(group, `${name} <account>`, about).option(
      '--reason <text>',
      'why, for the audit trail',
    ),
    async (context, { reason }, account = '') => {
      const parts = await openAccounts(context);
      const { id } = await parts.accounts.find(account);
      const changed = await changeStanding(parts, id, standing, OPERATOR, reason);
      return changedOutput(parts, changed, `is ${standing.replace('_', ' ')}`);
    },
  );
}

type CreateOptions = {
  readonly email: string;
  readonly plan: string;
  readonly credit?: string;
  readonly verified?: true;
  readonly name?: string;
};

async function create(context: Context, options: CreateOptions): Promise<Output> {
  const parts = await openAccounts(context);
  const { email, plan, credit, name: keyName } = options;
  const request = { email, plan, emailVerified: options.verified === true, credit, keyName };
  const { account, key } = await createAccount(parts, request, OPERATOR);
  const record = printedAccount(await readAccount(parts, account.id));
  return {
    json: { account: record, key },
    text: `Account ${account.id} (${account.email}) is on the plan ${account.plan} with ${record.balance.available} service tokens.\nIts key, shown only now: ${key}`,
  };
}

type ListOptions = {
  readonly search?: string;
  readonly plan?: string;
  readonly standing?: AccountFilter['standing'];
};

/** Oldest first. */
async function listAccounts(
  context: Context,
  { search: text, plan, standing }: ListOptions,
): Promise<Output> {
  const parts = await openAccounts(context);
  const page = { limit: Number.MAX_SAFE_INTEGER, before: undefined, nowMs: context.clock() };
  const found = await searchAccounts(parts.database, { text, plan, standing }, page);
  const catalog = parts.catalog();
  const records = found.toReversed().map((row) => printedAccount(accountRecord(row, catalog)));
  const rows = records.map((each) => [
    each.id,
    each.email,
    each.plan.slug,
    each.standing,
    each.email_verified ? 'yes' : 'no',
    each.balance.available,
  ]);
  return {
    json: { object: 'list', data: records },
    text: table(['ID', 'E-MAIL', 'PLAN', 'STANDING', 'VERIFIED', 'AVAILABLE'], rows),
  };
}

async function showAccount(context: Context, _options: object, name = ''): Promise<Output> {
  const parts = await openAccounts(context);
  const account = await parts.accounts.find(name);
  const record = printedAccount(await readAccount(parts, account.id));
  const records = (await parts.keys.list(account.id)).map((row) => keyRecord(row, context.clock()));
  const facts = [
    ['id', record.id],
    ['e-mail', `${record.email}${record.email_verified ? '' : ' (not verified)'}`],
    ['plan', `${record.plan.slug}, since ${shortTime(account.planSince)}`],
    ['standing', record.standing],
    ['available', `${record.balance.available} (${record.balance.available_usd} USD)`],
    ['reserved', record.balance.reserved],
    ['created', shortTime(account.createdAt)],
  ];
  const lines = facts.map(([label = '', value = '']) => `${label.padEnd(10)} ${value}`);
  return {
    json: { account: record, keys: records },
    text: [...lines, '', keyTable(records)].join('\n'),
  };
}

async function changedOutput(
  parts: OperationDependencies,
  account: Account,
  words: string,
): Promise<Output> {
  return {
    json: { account: printedAccount(await readAccount(parts, account.id)) },
    text: `Account ${account.id} ${words}.`,
  };
}
