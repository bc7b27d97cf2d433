// `tollgate operator …`: manages the users of the operator's console. A user of this machine
// creates the first operator; operators set their own passwords.

import type { Command } from 'commander';
import { consolePortOf, urlOf } from '../config/urls.ts';
import { isRole, ROLES, type Role } from '../core/role.ts';
import { createPeople } from '../identity/sign-in/people.ts';
import { operatorRecord } from '../operations/people.ts';
import { readNote } from '../store/server-notes.ts';
import {
  addCommand,
  addGroup,
  CommandError,
  OPERATOR,
  type Output,
  type Perform,
  readSecret,
} from './command.ts';
import type { Context } from './context.ts';
import { listOutput, shortInstant } from './list-output.ts';

export function addOperatorCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'operator', "manage the users of the operator's console");
  perform<CreateOptions>(
    addCommand(group, 'create <email>', 'create an operator, and print a link to set the password')
      .option('--role <role>', `${ROLES.join(', ')} (default: admin)`)
      .option('--password-stdin', 'read the password from standard input; prints no link'),
    create,
  );
  perform(
    addCommand(group, 'role <email> <role>', `change the role: ${ROLES.join(', ')}`),
    async (context, _options, email = '', role = '') => {
      const { operators } = await openPeople(context);
      const user = await operators.changeRole(email, readRole(role), OPERATOR);
      return {
        json: { operator: operatorRecord(user) },
        text: `${user.email} has the role ${user.role}.`,
      };
    },
  );
  perform(addCommand(group, 'list', 'list all operators'), list);
  perform(
    addCommand(
      group,
      'reset <email>',
      'remove password and second factor, and print a link to set a new password',
    ),
    async (context, _options, email = '') => {
      const url = await consoleUrl(context);
      const reset = await (await openPeople(context)).operators.reset(email, OPERATOR);
      return linkOutput(url, reset, 'has no password now');
    },
  );
  perform(
    addCommand(group, 'remove <email>', 'remove an operator, and end all their sessions'),
    async (context, _options, given = '') => {
      const email = await (await openPeople(context)).operators.remove(given, OPERATOR);
      return { json: { removed: { email } }, text: `${email} is no longer an operator.` };
    },
  );
}

export async function openPeople(context: Context) {
  const { database } = await context.openStore();
  return createPeople({ database, clock: context.clock, randomBytes: context.randomBytes });
}

type CreateOptions = { readonly role?: string; readonly passwordStdin?: true };

async function create(context: Context, options: CreateOptions, email = ''): Promise<Output> {
  const role = readRole(options.role ?? 'admin');
  const url = await consoleUrl(context);
  const { operators } = await openPeople(context);
  if (options.passwordStdin === true) {
    const user = await operators.create(email, role, await readSecret(), OPERATOR);
    return {
      json: { operator: operatorRecord(user) },
      text: `${user.email} is an operator and signs in at ${url} with that password.`,
    };
  }
  return linkOutput(
    url,
    await operators.invite(email, role, OPERATOR),
    'is invited as an operator',
  );
}

async function list(context: Context): Promise<Output> {
  const users = await (await openPeople(context)).operators.list();
  return listOutput(
    users.map(operatorRecord),
    ['E-MAIL', 'ROLE', 'SECOND FACTOR', 'CREATED'],
    (user) => [
      user.email,
      user.role ?? '',
      user.two_factor ? 'yes' : 'no',
      shortInstant(user.created_at),
    ],
  );
}

function linkOutput(
  url: string,
  { email, token }: { readonly email: string; readonly token: string },
  words: string,
): Output {
  const link = `${url}/welcome?token=${token}`;
  const how = 'Open this page within 30 minutes to choose a password; it works once:';
  return { json: { operator: { email }, token, link }, text: `${email} ${words}. ${how}\n${link}` };
}

function readRole(text: string): Role {
  if (isRole(text)) return text;
  throw new CommandError(
    'invalid_role',
    `There is no role with this name. Give one of ${ROLES.join(', ')}.`,
  );
}

/**
 * The console's address of the running or last server, because a port from its command line is in
 * no setting. Before the first start, the address by the present settings.
 */
async function consoleUrl(context: Context): Promise<string> {
  const config = context.config();
  const port = consolePortOf(config);
  if (port === undefined) {
    throw new CommandError(
      'no_console',
      'OPERATOR_PORT is off, so there is no console to sign in to. Set it to a port first.',
    );
  }
  const known = await readNote((await context.openStore()).database, 'console');
  if (known !== undefined && URL.canParse(known)) return known;
  return port === 0 ? '/operator' : urlOf(config.operatorHost, port);
}
