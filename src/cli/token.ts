// `tollgate token …`: creates, lists and revokes tokens of the operators' API.

import type { Command } from 'commander';
import { SCOPES } from '../core/operator-scope.ts';
import { createOperatorTokens, operatorTokenRecord } from '../identity/operator-tokens.ts';
import { addCommand, addGroup, OPERATOR, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';
import { listOutput, shortInstant } from './list-output.ts';
import { parseExpiry } from './parse.ts';

export function addTokenCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'token', "create, list and revoke tokens of the operators' API");
  perform<CreateOptions>(
    addCommand(group, 'create <name>', 'create a token, which is shown once')
      .requiredOption('--scopes <list>', `some of ${SCOPES.join(', ')}`)
      .requiredOption('--expires <date>', 'when it expires, within a year')
      .option('--for <email>', 'the operator for whom it acts; needed for large credits'),
    create,
  );
  perform(addCommand(group, 'list', 'list all tokens, newest first'), list);
  perform(addCommand(group, 'revoke <id>', 'revoke a token, at once and for good'), revoke);
}

async function tokensOf({ openStore, clock, randomBytes }: Context) {
  return createOperatorTokens({ database: (await openStore()).database, clock, randomBytes });
}

type CreateOptions = {
  readonly scopes: string;
  readonly expires: string;
  readonly for?: string;
};

async function create(context: Context, options: CreateOptions, name = ''): Promise<Output> {
  const tokens = await tokensOf(context);
  const scopes = options.scopes.split(',').map((scope) => scope.trim());
  const expiresAt = parseExpiry(options.expires);
  const facts = { name, scopes, expiresAt, owner: options.for };
  const { row, token } = await tokens.create(facts, OPERATOR);
  return {
    json: { operator_token: operatorTokenRecord(row, context.clock()), token },
    text: `Token ${row.id}, shown only now: ${token}`,
  };
}

async function list(context: Context): Promise<Output> {
  const rows = await (await tokensOf(context)).list();
  const records = rows.map((row) => operatorTokenRecord(row, context.clock()));
  return listOutput(
    records,
    ['TOKEN', 'NAME', 'STATUS', 'FOR', 'SCOPES', 'EXPIRES', 'LAST USED'],
    (each) => [
      each.id,
      each.name,
      each.status,
      each.owner ?? '-',
      each.scopes.join(','),
      shortInstant(each.expires_at),
      shortInstant(each.last_used_at),
    ],
  );
}

async function revoke(context: Context, _options: object, id = ''): Promise<Output> {
  const row = await (await tokensOf(context)).revoke(id, OPERATOR);
  return {
    json: { operator_token: operatorTokenRecord(row, context.clock()) },
    text: `Token ${row.id} (${row.name}) is revoked.`,
  };
}
