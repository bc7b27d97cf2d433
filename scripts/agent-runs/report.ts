// The tables of what the agents did, as Markdown: they are printed, and written into README.md
// between two markers. Called by scripts/agent-runs/run.ts.

import { resolve } from 'node:path';

const readmePath = resolve(import.meta.dir, '../../README.md');
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

/** Replaces what stands between the markers of README.md. */
export async function updateReadme(text: string): Promise<void> {
  const readme = await Bun.file(readmePath).text();
  const [opening, closing] = MARKERS;
  const start = readme.indexOf(opening);
  const end = readme.indexOf(closing);
  if (start === -1 || end < start) throw new Error(`README.md has no ${opening} … ${closing}`);
  const before = readme.slice(0, start + opening.length);
  await Bun.write(readmePath, `${before}\n\n${text}\n\n${readme.slice(end)}`);
}
