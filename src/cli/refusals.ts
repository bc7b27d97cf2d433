// `tollgate refusals`: lists refused requests, newest first; `tollgate explain` shows one of them.

import type { Command } from 'commander';
import type { Store } from '../operations/store.ts';
import { addCommand, type Output, type Perform } from './command.ts';
import { listOutput, shortInstant } from './list-output.ts';
import { parseCount } from './parse.ts';

type Options = { readonly account?: string; readonly limit: string };

/** Not loaded by other commands. */
const operations = () => import('../operations/refusals.ts');

export function addRefusalsCommand(program: Command, perform: Perform): void {
  perform<Options>(
    addCommand(program, 'refusals', 'list refused requests of the last seven days, newest first')
      .option('--account <account>', 'only those of this account')
      .option('--limit <number>', 'how many at most', '50'),
    async (context, options) => {
      const { database, accounts } = await context.openStore();
      const { account } = options;
      const accountId = account === undefined ? undefined : (await accounts.find(account)).id;
      const limit = parseCount(options.limit, '--limit') ?? 1;
      const records = await (await operations()).refusalRecords(database, { accountId, limit });
      const header = ['REQUEST', 'WHEN', 'COUNT', 'ACCOUNT', 'MODEL', 'CODE'];
      return listOutput(records, header, (refusal) => [
        refusal.request_id,
        shortInstant(refusal.started_at),
        String(refusal.count),
        refusal.account_id ?? '-',
        refusal.model ?? '-',
        refusal.problem.code ?? '-',
      ]);
    },
  );
}

/** A refused request, or several equal ones of a minute; undefined where the id is not the first. */
export async function explainRefusal(
  { database }: Pick<Store, 'database'>,
  id: string,
): Promise<Output | undefined> {
  const [refusal] = await (await operations()).refusalRecords(database, { id });
  if (refusal === undefined) return undefined;
  const { account_id: account, key_id: key, model, route, problem } = refusal;
  const text = [
    `Request ${id} of account ${account ?? 'none'}, key ${key ?? 'unknown'}`,
    `Model   ${model ?? 'none'} requested, by ${route}; no upstream was asked`,
    `Refused with status ${problem.status}, ${problem.code}: ${problem.message} ${problem.what_to_do}`,
    `        ${refusal.count} equal, ${refusal.started_at} to ${refusal.last_at}`,
  ];
  return { json: refusal, text: text.join('\n') };
}
