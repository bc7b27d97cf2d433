// `tollgate account …`: creates, shows and changes accounts. An account is named by its id or its
// e-mail address. `movement.ts` moves its money.

import { type Command, Option } from 'commander';
import type { Standing } from '../core/admit.ts';
import { DEFAULT_PLAN } from '../core/plan.ts';
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
import { addCommand, addGroup, OPERATOR, type Output, type Perform, shortTime } from './command.ts';
import type { Context } from './context.ts';
import { keyTable } from './key.ts';
import { listOutput } from './list-output.ts';
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
      .option('--verified', 'mark the e-mail address as verified')
      .option('--name <text>', 'a name for the key'),
    create,
  );
  perform<ListOptions>(
    addCommand(group, 'list', 'list all accounts, or those that match')
      .option('--search <text>', 'a part of the e-mail address, or the beginning of the id')
      .option('--plan <slug>', 'only accounts on this plan')
      .addOption(
        new Option('--standing <standing>', 'only accounts in this state').choices([
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
    (context, _options, account, plan = '') =>
      change(
        context,
        account,
        ({ accounts }, id) => accounts.changePlan(id, plan, OPERATOR),
        (changed) => `is on the plan ${changed.plan.slug}`,
      ),
  );
  perform(
    addCommand(group, 'verify <account>', 'mark the e-mail address as verified'),
    (context, _options, account) =>
      change(
        context,
        account,
        ({ accounts }, id) => accounts.verifyEmail(id, OPERATOR),
        () => 'has a verified e-mail address',
      ),
  );
  perform(
    addCommand(
      group,
      'second-factor-off <account>',
      'turn off a lost second factor; ends all sessions',
    ),
    (context, _options, account) =>
      change(
        context,
        account,
        async (_parts, id) => (await openPeople(context)).dropSecondFactor(id, OPERATOR),
        () => 'has no second factor',
      ),
  );
  addStandingCommand(group, perform, 'suspend', 'suspended', 'refuse its requests');
  addStandingCommand(group, perform, 'activate', 'active', 'accept its requests again');
  addStandingCommand(
    group,
    perform,
    'delete',
    'pending_deletion',
    'mark it for deletion: refuses its requests, keeps its keys and books, removes its kept thinking',
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
    (context, { reason }, account) =>
      change(
        context,
        account,
        (parts, id) => changeStanding(parts, id, standing, OPERATOR, reason),
        () => `is ${standing.replace('_', ' ')}`,
      ),
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
  const header = ['ID', 'E-MAIL', 'PLAN', 'STANDING', 'VERIFIED', 'AVAILABLE'];
  return listOutput(records, header, (each) => [
    each.id,
    each.email,
    each.plan.slug,
    each.standing,
    each.email_verified ? 'yes' : 'no',
    each.balance.available,
  ]);
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

type PrintedAccount = ReturnType<typeof printedAccount>;

/** Finds an account, changes it, and prints `words` with its new state. */
async function change(
  context: Context,
  name = '',
  work: (parts: OperationDependencies, id: string) => Promise<unknown>,
  words: (changed: PrintedAccount) => string,
): Promise<Output> {
  const parts = await openAccounts(context);
  const { id } = await parts.accounts.find(name);
  await work(parts, id);
  const account = printedAccount(await readAccount(parts, id));
  return { json: { account }, text: `Account ${id} ${words(account)}.` };
}
