// `tollgate docs [topic]`: lists the pages of the documentation, or prints one as Markdown.

import type { Command } from 'commander';
import type { DocPage, DocPart } from '../docs/page.ts';
import { addCommand, CommandError, type Output, type Perform, table } from './command.ts';
import type { Context } from './context.ts';

const PARTS: readonly DocPart[] = ['customers', 'operators'];

export function addDocsCommand(program: Command, perform: Perform): void {
  perform(
    addCommand(program, 'docs [topic]', 'list the pages of the documentation, or print one'),
    printDocs,
  );
}

async function printDocs(_context: Context, _options: object, topic?: string): Promise<Output> {
  const { loadDocs } = await import('../docs/load.ts');
  const { pages } = await loadDocs();
  if (topic === undefined) return listOf(pages);
  const page = pages.find((each) => topic === each.name || topic === `${each.part}/${each.topic}`);
  if (page !== undefined) return { json: record(page, true), text: page.markdown.trimEnd() };
  throw new CommandError(
    'topic_not_found',
    'There is no page of this name. List the pages with tollgate docs.',
  );
}

function listOf(pages: readonly DocPage[]): Output {
  const groups = PARTS.map((part) => {
    const rows = pages.filter((page) => page.part === part);
    return table(
      ['TOPIC', part.toUpperCase()],
      rows.map((page) => [page.name, page.title]),
    );
  });
  const hint = 'Print a page with tollgate docs TOPIC.';
  const data = pages.map((page) => record(page, false));
  return { json: { object: 'list', data }, text: [...groups, hint].join('\n\n') };
}

function record(page: DocPage, isWhole: boolean) {
  const { name, part, title, summary, markdown } = page;
  return { topic: name, part, title, summary, ...(isWhole ? { markdown } : {}) };
}
