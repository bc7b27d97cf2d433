// `tollgate refusals`: lists refused requests, newest first; `tollgate explain` shows one of them.

import type { Command } from 'commander';
import { refusedRecord } from '../dashboard/edge/problem.ts';
import { createRefusalList, type RefusedRequest } from '../refusals/list.ts';
import { addCommand, type Output, type Perform, shortTime } from './command.ts';
import type { Context } from './context.ts';
import { listOutput, shortInstant } from './list-output.ts';
import { parseCount } from './parse.ts';

type Options = { readonly account?: string; readonly limit: string };

export function addRefusalsCommand(program: Command, perform: Perform): void {
  perform<Options>(
    addCommand(program, 'refusals', 'list refused requests of the last seven days, newest first')
      .option('--account <account>', 'only those of this account')
      .option('--limit <number>', 'how many at most', '50'),
    listRefusals,
  );
}

async function listRefusals(context: Context, { account, limit }: Options): Promise<Output> {
  const { database, accounts } = await context.openStore();
  const accountId = account === undefined ? undefined : (await accounts.get(account)).id;
  const most = parseCount(limit, '--limit') ?? 1;
  const rows = await createRefusalList(database).list({ accountId }, most);
  const header = ['REQUEST', 'WHEN', 'COUNT', 'ACCOUNT', 'MODEL', 'STATUS', 'CODE', 'MESSAGE'];
  return listOutput(rows.map(refusalFacts), header, (refusal) => [
    refusal.request_id,
    shortInstant(refusal.started_at),
    String(refusal.count),
    refusal.account_id ?? '-',
    refusal.model ?? '-',
    String(refusal.problem.status),
    refusal.problem.code ?? '-',
    refusal.problem.message,
  ]);
}

/** One refused request, or several equal ones of a minute. */
export function refusalOutput(row: RefusedRequest): Output {
  const { code, message, what_to_do: advice } = refusalFacts(row).problem;
  const key = row.keyId === null ? 'no known key' : `key ${row.keyId}`;
  const equal =
    row.count === 1 ? '' : `, with ${row.count - 1} equal ones until ${shortTime(row.lastAt)}`;
  return {
    json: refusalFacts(row),
    text: [
      `Request ${row.id} of ${row.accountId === null ? 'no account' : `account ${row.accountId}`}, ${key}`,
      `Model   ${row.model ?? 'none'}, route ${row.route}`,
      `Refused ${shortTime(row.at)} with status ${row.status}, ${code}${equal}: ${message}`,
      `        ${advice}`,
      'Charged nothing; the request reached no upstream.',
    ].join('\n'),
  };
}

function refusalFacts(row: RefusedRequest) {
  const { key_name: _, ...record } = refusedRecord(row, null);
  return { ...record, account_id: row.accountId };
}
