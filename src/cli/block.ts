// `tollgate block …`: blocks an account, a key or a network, and unblocks it.

import { Argument, type Command } from 'commander';
import type { Block } from '../identity/blocks.ts';
import { addBlock, blockRecord, removeBlock } from '../operations/blocks.ts';
import { addCommand, addGroup, OPERATOR, type Output, type Perform, shortTime } from './command.ts';
import type { Context } from './context.ts';
import { listOutput, shortInstant } from './list-output.ts';
import { parseDuration } from './parse.ts';

export function addBlockCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'block', 'refuse accounts, keys and networks');
  perform<AddOptions>(
    addTarget(addCommand(group, 'add', 'refuse an account, a key or a network'))
      .option('--reason <text>', 'why, for the audit trail', '')
      .option('--for <duration>', 'how long, such as 30m, 12h or 7d (default: until it is removed)')
      .option('--confirm <network>', 'the network again, where it is wider than a /16 or IPv6 /32'),
    add,
  );
  perform(addTarget(addCommand(group, 'remove', 'serve it again')), remove);
  perform(addCommand(group, 'list', 'list active blocks'), list);
}

function addTarget(command: Command): Command {
  return command
    .addArgument(new Argument('<kind>', 'what to refuse').choices(['account', 'key', 'network']))
    .argument(
      '<value>',
      'an account id or e-mail address, a key id or key, an address or CIDR range',
    );
}

type AddOptions = { readonly reason: string; readonly for?: string; readonly confirm?: string };

async function add(context: Context, options: AddOptions, kind = '', value = ''): Promise<Output> {
  const { reason, confirm } = options;
  const forMs = options.for === undefined ? undefined : parseDuration(options.for, '--for');
  const target = { kind: kind as Block['kind'], value };
  const block = await addBlock(
    await context.openStore(),
    target,
    { reason, forMs, confirm },
    OPERATOR,
  );
  const until = block.expiresAt === null ? '' : ` until ${shortTime(block.expiresAt)} UTC`;
  return {
    json: { block: blockRecord(block) },
    text: `The ${block.kind} ${block.value} is blocked${until}.`,
  };
}

async function remove(context: Context, _options: object, kind = '', value = ''): Promise<Output> {
  const target = { kind: kind as Block['kind'], value };
  const block = await removeBlock(await context.openStore(), target, OPERATOR);
  return {
    json: { removed: blockRecord(block) },
    text: `The ${block.kind} ${block.value} is no longer blocked.`,
  };
}

async function list(context: Context): Promise<Output> {
  const blocks = await (await context.openStore()).blocks.list();
  const header = ['KIND', 'VALUE', 'SINCE', 'UNTIL', 'REASON'];
  return listOutput(blocks.map(blockRecord), header, (block) => [
    block.kind,
    block.value,
    shortInstant(block.created_at),
    shortInstant(block.expires_at),
    block.reason,
  ]);
}
