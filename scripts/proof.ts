// `bun run proof`: runs the self-test of the executable in dist/, and writes what it prints to the
// proof page. With a file of samples, the verdict of that soak, too:
//   bun run proof [--soak FILE]

import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const root = resolve(import.meta.dir, '..');
const PAGE = resolve(root, 'src/docs/operators/proof.md');

const { values: options } = parseArgs({ options: { soak: { type: 'string' } } });

let page = readFileSync(PAGE, 'utf8');
const test = await output([resolve(root, 'dist/tollgate'), 'selftest']);
page = withBlock(page, '## The last run', test);
if (options.soak !== undefined) {
  const soak = await output([process.execPath, 'scripts/soak.ts', '--read', options.soak]);
  page = withBlock(page, '## The last soak', soak);
}
writeFileSync(PAGE, page);

/** What a command prints. A failed check is shown on the page, too. */
async function output(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], {
    ...{ cwd: root, stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
  });
  const [text] = await Promise.all([child.stdout.text(), child.exited]);
  if (text.trim() === '') throw new Error(`${command.join(' ')} printed nothing`);
  return text.trim();
}

/** Replaces the first block behind a heading. */
function withBlock(text: string, heading: string, content: string): string {
  const at = text.indexOf(heading);
  const from = text.indexOf('```text\n', at);
  const until = text.indexOf('\n```', from + 1);
  if (at === -1 || from === -1 || until === -1) throw new Error(`${heading} has no block`);
  return `${text.slice(0, from)}\`\`\`text\n${content}${text.slice(until)}`;
}
