// Formats the results of agent runs as Markdown tables, prints them, and writes them between two
// markers in the page of tested clients. Called by run.ts.

import { resolve } from 'node:path';

const pagePath = resolve(import.meta.dir, '../../src/docs/customers/tested-clients.md');
const MARKERS = ['<!-- agents -->', '<!-- /agents -->'] as const;

/** A Markdown table, padded so that it reads well as text too; nothing without rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const widths = head.map((cell, at) =>
    Math.max(cell.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return `${[line(head), rule, ...rows.map(line)].join('\n')}\n`;
}

/** Replaces what stands between the markers of the page. */
export async function updateDocs(text: string): Promise<void> {
  const page = await Bun.file(pagePath).text();
  const [opening, closing] = MARKERS;
  const start = page.indexOf(opening);
  const end = page.indexOf(closing);
  if (start === -1 || end < start)
    throw new Error(`tested-clients.md has no ${opening} … ${closing}`);
  const before = page.slice(0, start + opening.length);
  await Bun.write(pagePath, `${before}\n\n${text}\n\n${page.slice(end)}`);
}
