// `tollgate audit`: lists changes by operators and customers, newest first. The trail is
// append-only.

import type { Command } from 'commander';
import { auditEventRecord, readTrail } from '../operations/audit.ts';
import { addCommand, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';
import { listOutput, shortInstant } from './list-output.ts';
import { parseCount } from './parse.ts';

type Options = {
  readonly account?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly before?: string;
  readonly limit: string;
};

export function addAuditCommand(program: Command, perform: Perform): void {
  perform<Options>(
    addCommand(
      program,
      'audit',
      'list the audit trail: who changed what, newest first (doctor audits the books)',
    )
      .option('--account <account>', 'only events about this account')
      .option(
        '--actor <name>',
        'only events by this actor: an e-mail address, token:NAME, operator (the command line) or system',
      )
      .option('--action <name>', 'such as money.credited')
      .option('--subject <id>', 'only events about this key, block, movement or setting')
      .option('--before <number>', 'only events before this number')
      .option('--limit <number>', 'how many at most', '100'),
    listEvents,
  );
}

async function listEvents(context: Context, options: Options): Promise<Output> {
  const { account, actor, action, subject } = options;
  const page = {
    limit: parseCount(options.limit, '--limit') ?? 1,
    before: parseCount(options.before, '--before'),
  };
  const filter = { account, actor, action, subject };
  const records = (await readTrail(await context.openStore(), filter, page)).map(auditEventRecord);
  const header = ['EVENT', 'WHEN', 'WHO', 'FROM', 'WHAT', 'ABOUT', 'DETAIL'];
  return listOutput(records, header, (event) => [
    String(event.id),
    shortInstant(event.at),
    event.actor,
    event.address ?? '-',
    event.action,
    event.subject,
    JSON.stringify(event.detail),
  ]);
}
