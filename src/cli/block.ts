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
  shortTime,
  table,
} from './command.ts';
import type { Context, Store } from './context.ts';

export function addBlockCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'block', 'refuse accounts, keys and networks');
  perform<AddOptions>(
    addTarget(addCommand(group, 'add', 'refuse an account, a key or a network')).option(
      '--reason <text>',
      'why, for the audit trail',
      '',
    ),
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

type AddOptions = { readonly reason: string };

function addBlock(context: Context, options: AddOptions, kind = '', value = ''): Output {
  const store = context.openStore();
  const target = findTarget(store, kind, value);
  const block = store.blocks.add(target.kind, target.value, options.reason, OPERATOR);
  return {
    json: { block: blockRecord(block) },
    text: `The ${block.kind} ${block.value} is blocked.`,
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
    block.reason,
  ]);
  return {
    json: { object: 'list', data: blocks.map(blockRecord) },
    text: table(['KIND', 'VALUE', 'SINCE', 'REASON'], rows),
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
  } as const;
}
