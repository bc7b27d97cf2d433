// `tollgate key …`: creates, lists, shows, rotates and revokes API keys. A key is named by its id
// or the whole key; its masked form is not enough.

import { type Command, Option } from 'commander';
import { isWellFormedKey } from '../core/id.ts';
import { keyRecord } from '../identity/key-record.ts';
import { printedAccount } from '../operations/account-records.ts';
import type { OperationDependencies } from '../operations/dependencies.ts';
import { boundKeyRecord, boundKeyRecords, createBoundKey } from '../operations/key-bounds.ts';
import { findKey, rotatedKeyRecord } from '../operations/keys.ts';
import type { KeyRevocation } from '../store/tables.ts';
import {
  addCommand,
  addGroup,
  CommandError,
  OPERATOR,
  type Output,
  type Perform,
  readSecret,
  table,
} from './command.ts';
import { confirmed } from './confirmation.ts';
import type { Context } from './context.ts';
import {
  addKeyEditCommands,
  type BoundsOptions,
  boundsText,
  readBounds,
  withBounds,
} from './key-edit.ts';
import { openParts } from './open-operations.ts';
import { parseDuration, parseExpiry } from './parse.ts';

export function addKeyCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'key', 'create, list, edit, pause, rotate and revoke API keys');
  perform<CreateOptions>(
    withBounds(addCommand(group, 'create <account>', 'create a key, which is shown once'))
      .option('--name <text>', 'a name of at most 100 characters')
      .option('--expires <date>', 'when it expires, such as 2027-01-31 or 2027-01-31T12:00:00Z')
      .option('--key-stdin', 'read the key from standard input, such as one of another gateway'),
    createKey,
  );
  perform(addCommand(group, 'list <account>', 'list the keys of an account'), listKeys);
  perform(addCommand(group, 'show <key>', 'show the account of a key, and its state'), showKey);
  addKeyEditCommands(group, perform);
  perform<RevokeOptions>(
    addCommand(group, 'revoke <key>', 'revoke a key, at once and for good').addOption(
      new Option('--reason <reason>', 'why')
        .choices(['operator', 'leak_report', 'user', 'account_closed'])
        .default('operator'),
    ),
    revokeKey,
  );
  perform<RotateOptions>(
    addCommand(
      group,
      'rotate <key>',
      'create a replacement and revoke the key, in one step',
    ).option('--grace <duration>', 'keep the old key working for a time of at most 7d'),
    rotateKey,
  );
}

type CreateOptions = BoundsOptions & {
  readonly name?: string;
  readonly expires?: string;
  readonly keyStdin?: true;
};

async function createKey(context: Context, options: CreateOptions, account = ''): Promise<Output> {
  const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires);
  const parts = await openParts(context);
  const accountId = (await parts.accounts.find(account)).id;
  const text = options.keyStdin === true ? await readKey(parts) : undefined;
  const facts = { accountId, name: options.name, expiresAt, text, ...readBounds(options) };
  const { row, key } = await createBoundKey(parts, facts, OPERATOR);
  const record = await boundKeyRecord(parts, row);
  if (text !== undefined) {
    return { json: { api_key: record }, text: `Key ${row.id} is ${row.masked}.` };
  }
  return { json: { api_key: record, key }, text: `Key ${row.id}, shown only now: ${key}` };
}

/** A key that customers have already. Its form is that of all keys. */
async function readKey({ keys }: Pick<OperationDependencies, 'keys'>): Promise<string> {
  const key = await readSecret();
  if (!isWellFormedKey(key)) {
    const text =
      'The key is not valid. It needs to be sk- and 48 letters or digits; give customers with other keys a new one.';
    throw new CommandError('invalid_key', text);
  }
  if ((await keys.find(key).catch(() => undefined)) === undefined) return key;
  const text = 'An account has this key already; tollgate key show finds it.';
  throw new CommandError('key_exists', text);
}

async function listKeys(context: Context, _options: object, name = ''): Promise<Output> {
  const parts = await openParts(context);
  const { accounts, keys } = parts;
  const account = await accounts.find(name);
  const rows = await keys.list(account.id);
  const records = rows.map(await boundKeyRecords(parts, rows));
  const json = {
    object: 'list',
    data: records,
    active_count: await keys.countActive(account.id),
    active_limit: context.catalog().plans.get(account.plan)?.maxApiKeys ?? 0,
  };
  return { json, text: keyTable(records) };
}

async function showKey(context: Context, _options: object, name = ''): Promise<Output> {
  const parts = await openParts(context);
  const { key: found, account, block } = await findKey(parts, name);
  const key = await boundKeyRecord(parts, await parts.keys.find(found.id));
  const { standing } = printedAccount(account);
  const whose = `Account ${account.id} (${account.email}), ${standing}`;
  const blocked = block === null ? [] : [`Blocked until ${block.expires_at ?? 'it is removed'}`];
  return {
    json: { api_key: key, account: { id: account.id, email: account.email }, block },
    text: [keyTable([key]), '', whose, ...blocked, ...boundsText(key)].join('\n'),
  };
}

type RevokeOptions = { readonly reason: KeyRevocation };

async function revokeKey(context: Context, options: RevokeOptions, name = ''): Promise<Output> {
  const { keys } = await context.openStore();
  const row = await keys.revoke(name, options.reason, OPERATOR);
  const nodes = await confirmed(context);
  return {
    json: { api_key: keyRecord(row, context.clock()), nodes: nodes.json },
    text: `Key ${row.id} (${row.masked}) is revoked. ${nodes.text}`,
  };
}

type RotateOptions = { readonly grace?: string };

async function rotateKey(context: Context, options: RotateOptions, name = ''): Promise<Output> {
  const graceMs = options.grace === undefined ? 0 : parseDuration(options.grace, '--grace');
  const { keys } = await context.openStore();
  const rotated = await keys.rotate(name, OPERATOR, graceMs);
  const { replaced, created } = rotatedKeyRecord(rotated, context.clock());
  const nodes = await confirmed(context);
  return {
    json: { replaced, created, nodes: nodes.json },
    text: `Key ${replaced.id} (${replaced.masked}) ${replaced.status === 'active' ? `works until ${replaced.expires_at}` : 'is revoked'}. ${nodes.text}\nIts replacement ${created.id}, shown only now: ${created.key}`,
  };
}

export function keyTable(records: readonly ReturnType<typeof keyRecord>[]): string {
  const rows = records.map((record) => [
    record.id,
    record.masked,
    record.name ?? '-',
    record.status,
    record.created_at,
    record.expires_at ?? '-',
    record.last_used_at ?? '-',
  ]);
  return table(['KEY', 'MASKED', 'NAME', 'STATUS', 'CREATED', 'EXPIRES', 'LAST USED'], rows);
}
