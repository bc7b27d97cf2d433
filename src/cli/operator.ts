// `tollgate operator …`: who may sign in to the operator's console. Whoever has this machine makes
// the first operator; nobody has a password before they have chosen one themselves.

import type { Command } from 'commander';
import { consolePortOf, urlOf } from '../config/urls.ts';
import { createPeople } from '../identity/sign-in/people.ts';
import { operatorRecord } from '../operations/people.ts';
import { readNote } from '../store/server-notes.ts';
import {
  addCommand,
  addGroup,
  CommandError,
  listOutput,
  OPERATOR,
  type Output,
  type Perform,
  shortInstant,
} from './command.ts';
import type { Context } from './context.ts';

/** A page of text; a longer one is no password. */
const STDIN_BYTES_MAX = 4_096;

export function addOperatorCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'operator', "say who may sign in to the operator's console");
  perform<CreateOptions>(
    addCommand(
      group,
      'create <email>',
      'make an operator, and print the link with which they choose a password',
    ).option('--password-stdin', 'take the password from standard input, and print no link'),
    create,
  );
  perform(addCommand(group, 'list', 'list all operators'), list);
  perform(
    addCommand(
      group,
      'reset <email>',
      'take away password and second factor, and print the link for a new password',
    ),
    async (context, _options, email = '') => {
      const url = await consoleUrl(context);
      const reset = await (await openPeople(context)).operators.reset(email, OPERATOR);
      return linkOutput(url, reset, 'has no password now');
    },
  );
  perform(
    addCommand(group, 'remove <email>', 'end all sessions of an operator, and let them in no more'),
    async (context, _options, given = '') => {
      const email = await (await openPeople(context)).operators.remove(given, OPERATOR);
      return { json: { removed: { email } }, text: `${email} is no operator any more.` };
    },
  );
}

export async function openPeople(context: Context) {
  const { database } = await context.openStore();
  return createPeople({ database, clock: context.clock, randomBytes: context.randomBytes });
}

type CreateOptions = { readonly passwordStdin?: true };

async function create(context: Context, options: CreateOptions, email = ''): Promise<Output> {
  const url = await consoleUrl(context);
  const { operators } = await openPeople(context);
  if (options.passwordStdin === true) {
    const user = await operators.create(email, await readPassword(), OPERATOR);
    return {
      json: { operator: operatorRecord(user) },
      text: `${user.email} is an operator and signs in at ${url} with that password.`,
    };
  }
  return linkOutput(url, await operators.invite(email, OPERATOR), 'is going to be an operator');
}

async function list(context: Context): Promise<Output> {
  const users = await (await openPeople(context)).operators.list();
  return listOutput(users.map(operatorRecord), ['E-MAIL', 'SECOND FACTOR', 'CREATED'], (user) => [
    user.email,
    user.two_factor ? 'yes' : 'no',
    shortInstant(user.created_at),
  ]);
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

/**
 * Where the server that runs, or the last one that did, has its console: options of its command line
 * are in no setting. Before the first one, where a server with these settings will have it.
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
  const told = await readNote((await context.openStore()).database, 'console');
  if (told !== undefined && URL.canParse(told)) return told;
  return port === 0 ? '/operator' : urlOf(config.operatorHost, port);
}

async function readPassword(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of Bun.stdin.stream()) {
    size += chunk.byteLength;
    if (size > STDIN_BYTES_MAX) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}
