// `tollgate refusals`: lists refused requests, newest first; `tollgate explain` shows one of them.

import type { Command } from 'commander';
import type { Store } from '../operations/store.ts';
import { addCommand, type Output, type Perform } from './command.ts';
import { listOutput, shortInstant } from './list-output.ts';
import { parseCount } from './parse.ts';

type Options = { readonly account?: string; readonly limit: string };

export function addRefusalsCommand(program: Command, perform: Perform): void {
  perform<Options>(
    addCommand(program, 'refusals', 'list refused requests of the last seven days, newest first')
      .option('--account <account>', 'only those of this account')
      .option('--limit <number>', 'how many at most', '50'),
    async (context, { account, limit }) => {
      const { database, accounts } = await context.openStore();
      const accountId = account === undefined ? undefined : (await accounts.find(account)).id;
      const { createRefusalList, refusalFacts } = await load();
      const rows = await createRefusalList(database).list(
        { accountId },
        parseCount(limit, '--limit') ?? 1,
      );
      const header = ['REQUEST', 'WHEN', 'COUNT', 'ACCOUNT', 'MODEL', 'STATUS', 'CODE'];
      return listOutput(rows.map(refusalFacts), header, (refusal) => [
        refusal.request_id,
        shortInstant(refusal.started_at),
        String(refusal.count),
        refusal.account_id ?? '-',
        refusal.model ?? '-',
        String(refusal.problem.status),
        refusal.problem.code ?? '-',
      ]);
    },
  );
}

/** A refused request, or several equal ones of a minute; undefined where the id is not the first. */
export async function explainRefusal(
  { database }: Pick<Store, 'database'>,
  requestId: string,
): Promise<Output | undefined> {
  const { createRefusalList, refusalFacts } = await load();
  const row = await createRefusalList(database).find(requestId);
  if (row === undefined) return undefined;
  const refusal = refusalFacts(row);
  const { status, code, message, what_to_do: advice } = refusal.problem;
  const text = [
    `Request ${row.id} of account ${row.accountId ?? 'none'}, key ${row.keyId ?? 'unknown'}`,
    `Model   ${row.model ?? 'none'} requested, by ${row.route}; no upstream was asked`,
    `Refused with status ${status}, ${code}: ${message} ${advice}`,
    `        ${row.count} equal, ${refusal.started_at} to ${refusal.last_at}`,
  ];
  return { json: refusal, text: text.join('\n') };
}

/** Not loaded by other commands. */
async function load() {
  const [{ createRefusalList }, { refusalFacts }] = await Promise.all([
    import('../refusals/list.ts'),
    import('../operations/refused-record.ts'),
  ]);
  return { createRefusalList, refusalFacts };
}
