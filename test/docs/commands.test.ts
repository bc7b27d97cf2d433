// The commands of the documents: the page lists every command, and every command that a page shows
// exists with its options.

import { beforeAll, describe, expect, test } from 'bun:test';
import { gatewayCommand } from '../support/gateway.ts';
import { blocks, operatorPage, PAGES, read, withoutBlocks } from './documents.ts';

/** By command, such as `account create`: its help text. Groups are in it too. */
const helps = new Map<string, string>();
const leaves: string[] = [];

beforeAll(async () => leaves.push(...(await commands([]))), 60_000);

describe('the command line page', () => {
  const page = operatorPage('command-line');
  const examples = blocks(page, 'sh').join('\n');

  test('names every command', () => {
    const named = [...page.matchAll(/tollgate ([a-z]+(?: [a-z-]+)?)/g)];
    const words = new Set(named.flatMap(([, both = '']) => [both, both.split(' ')[0] ?? '']));
    expect(leaves.length).toBeGreaterThan(20);
    expect(leaves.filter((leaf) => !words.has(leaf))).toEqual([]);
  });

  test('has an example of every command but the server and what needs one', () => {
    const without = leaves.filter(
      (leaf) => !new RegExp(`^(?:echo .* \\| )?tollgate ${leaf}\\b`, 'm').test(examples),
    );
    expect(without.toSorted()).toEqual([
      'account second-factor-off',
      'archive find',
      'archive restore',
      'catalog reload',
      'compact',
      'export',
      'health',
      'import',
      'restore',
      'selftest',
      'serve',
    ]);
  });
});

test.each(['README.md', ...PAGES])('%s: each command exists, with its options', (document) => {
  const text = read(document);
  const typed = [
    ...blocks(text, 'sh').flatMap((block) => block.replaceAll('\\\n', ' ').split('\n')),
    ...[...withoutBlocks(text).matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
  ].flatMap((line) => /(?:^|[| ])tollgate ((?:--)?[a-z].*)$/.exec(line)?.[1] ?? []);
  const wrong = typed.filter((line) => {
    const words = line.replace(/ #.*$/, '').split(/\s+/);
    const [first = '', second = ''] = words;
    if (first.startsWith('--')) return !helps.get('')?.includes(first);
    const help = helps.get(`${first} ${second}`) ?? helps.get(first);
    const options = words.filter((word) => /^--[a-z]/.test(word));
    return help === undefined || options.some((option) => !help.includes(option));
  });
  expect(wrong).toEqual([]);
});

/** Every command that does something, such as `account create`, from the help texts alone. */
async function commands(path: readonly string[]): Promise<string[]> {
  const child = Bun.spawn([...gatewayCommand(), ...path, '--help'], { stdout: 'pipe' });
  const help = await child.stdout.text();
  helps.set(path.join(' '), help);
  const [usage = '', list = ''] = help.split('\nCommands:\n');
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map((match) => match[1] ?? '');
  // An unknown name is answered with the help of its group, which would be walked for ever.
  if (path.length > 2) throw new Error(`there is no command ${path.join(' ')}`);
  const below = await Promise.all(names.map((name) => commands([...path, name])));
  // A group has no option but help; `models` is a command and a group at once.
  const own = path.length > 0 && usage.includes('--json') ? [path.join(' ')] : [];
  return [...own, ...below.flat()];
}
