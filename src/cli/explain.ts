// `tollgate explain REQUEST_ID`: how a charge came about, from the books alone. The figures are
// computed again from usage and prices, so a difference would show.

import type { Command } from 'commander';
import { explainRequest } from '../operations/requests.ts';
import { addCommand, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';
import { explanationText } from './explanation-text.ts';

export function addExplainCommand(program: Command, perform: Perform): void {
  perform(
    addCommand(program, 'explain <request>', 'show how the charge of a request came about'),
    explain,
  );
}

async function explain(context: Context, _options: object, requestId = ''): Promise<Output> {
  const { books } = await context.openStore();
  const facts = await explainRequest(books, context.catalog(), requestId);
  return { json: facts, text: explanationText(facts) };
}
