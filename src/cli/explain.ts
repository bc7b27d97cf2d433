// `tollgate explain REQUEST_ID`: how a charge came about, from the books alone. The figures are
// computed again from usage and prices, so a difference would show.

import type { Command } from 'commander';
import { addCommand, CommandError, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';
import { explanation } from './explanation.ts';
import { explanationText } from './explanation-text.ts';

export function addExplainCommand(program: Command, perform: Perform): void {
  perform(
    addCommand(program, 'explain <request>', 'show how the charge of a request came about'),
    explain,
  );
}

function explain(context: Context, _options: object, requestId = ''): Output {
  const { books } = context.openStore();
  const story = books.explain(requestId);
  if (story === undefined) {
    throw new CommandError(
      'request_not_found',
      'The books know no request with this id. A request that was refused leaves no entry.',
    );
  }
  const facts = explanation(story, context.catalog());
  return { json: facts, text: explanationText(facts) };
}
