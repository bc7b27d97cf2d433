// `tollgate block …`: refuse an account, a key or a network, and take that back.

import { Argument, type Command } from 'commander';
import { isoTime } from '../core/calendar.ts';
import type { Block } from '../identity/blocks.ts';
import {
  addCommand,
  addGroup,
  OPERATOR,
  type Output,
  type Perform,
  parseDuration,
  shortTime,
  table,
} from './command.ts';
import type { Context, Store } from './context.ts';

export function addBlockCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'block', 'refuse accounts, keys and networks');
  perform<AddOptions>(
    addTarget(addCommand(group, 'add', 'refuse an account, a key or a network'))
      .option('--reason <text>', 'why, for the audit trail', '')
      .option('--for <duration>', 'how long, such as 30m, 12h or 7d; until it is removed without'),
    addBlock,
  );
  perform(addTarget(addCommand(group, 'remove', 'serve it again')), removeBlock);
  perform(addCommand(group, 'list', 'list what is refused'), listBlocks);
}

function addTarget(command: Command): Command {
  return command
    .addArgument(new Argument('<kind>', 'what to refuse').choices(['account', 'key', 'network']))
    .argument(
      '<value>',
      'an account id or e-mail address, a key id or key, an address or CIDR range',
    );
}

type AddOptions = { readonly reason: string; readonly for?: string };

function addBlock(context: Context, options: AddOptions, kind = '', value = ''): Output {
  const { reason } = options;
  const forMs = options.for === undefined ? undefined : parseDuration(options.for, '--for');
  const store = context.openStore();
  const target = findTarget(store, kind, value);
  const block = store.blocks.add(target.kind, target.value, { reason, forMs }, OPERATOR);
  const until = block.expiresAt === null ? '' : ` until ${shortTime(block.expiresAt)} UTC`;
  return {
    json: { block: blockRecord(block) },
    text: `The ${block.kind} ${block.value} is blocked${until}.`,
  };
}

function removeBlock(context: Context, _options: object, kind = '', value = ''): Output {
  const store = context.openStore();
  const target = findTarget(store, kind, value);
  const block = store.blocks.remove(target.kind, target.value, OPERATOR);
  return {
    json: { removed: blockRecord(block) },
    text: `The ${block.kind} ${block.value} is no longer blocked.`,
  };
}

function listBlocks(context: Context): Output {
  const blocks = context.openStore().blocks.list();
  const rows = blocks.map((block) => [
    block.kind,
    block.value,
    shortTime(block.createdAt),
    block.expiresAt === null ? '-' : shortTime(block.expiresAt),
    block.reason,
  ]);
  return {
    json: { object: 'list', data: blocks.map(blockRecord) },
    text: table(['KIND', 'VALUE', 'SINCE', 'UNTIL', 'REASON'], rows),
  };
}

/** The ids that blocks are kept under; throws where there is no such account or key. */
function findTarget(store: Store, kind: string, value: string): Pick<Block, 'kind' | 'value'> {
  if (kind === 'account') return { kind, value: store.accounts.find(value).id };
  if (kind === 'key') return { kind, value: store.keys.find(value).id };
  return { kind: 'network', value };
}

function blockRecord(block: Block) {
  return {
    id: block.id,
    object: 'block',
    kind: block.kind,
    value: block.value,
    reason: block.reason,
    created_at: isoTime(block.createdAt),
    expires_at: block.expiresAt === null ? null : isoTime(block.expiresAt),
  } as const;
}
