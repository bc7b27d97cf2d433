// Reads the documents of the repository for the tests of this folder: sections, tables, code blocks,
// links and anchors.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dir, '../..');

export const CUSTOMERS = 'src/docs/customers';
export const OPERATORS = 'src/docs/operators';

/** Every page of the documentation, by its path in the repository. */
export const PAGES = [...new Bun.Glob('src/docs/**/*.md').scanSync({ cwd: ROOT })].toSorted();

/** Every decision, by its path in the repository, in order of its number. */
export const DECISIONS = [
  ...new Bun.Glob('src/decisions/[0-9]*.md').scanSync({ cwd: ROOT }),
].toSorted();

/** Every document that is held to links and paths. */
export const DOCUMENTS = [
  ...['README.md', ...PAGES, 'src/README.md', 'test/README.md', 'scripts/benchmark/README.md'],
  ...['scripts/benchmark/record.md', 'scripts/release-steps/README.md'],
  ...[
    '.github/CONTRIBUTING.md',
    '.github/SECURITY.md',
    '.github/CHANGELOG.md',
    ...DECISIONS,
    'src/decisions/README.md',
  ],
];

export function read(document: string): string {
  return readFileSync(join(ROOT, document), 'utf8');
}

export const customerPage = (name: string): string => read(`${CUSTOMERS}/${name}.md`);
export const operatorPage = (name: string): string => read(`${OPERATORS}/${name}.md`);

/** The program of each example of a served page, by the language of its switch. */
export function programs(html: string): readonly (readonly [language: string, code: string])[] {
  const blocks = html.matchAll(/ data-choice="(\w+)"[^>]*>.*?<code>([\s\S]*?)<\/code>/g);
  return [...blocks].map(([, language = '', code = '']) => [language, unescaped(code)]);
}

const unescaped = (html: string): string =>
  html.replaceAll(/&(lt|gt|quot|#x27|amp);/g, (_entity, name) => ENTITIES[name] ?? '');

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  '#x27': "'",
  amp: '&',
};

/** From a heading of any level to the next one of that level or above. */
export function section(text: string, heading: string): string {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.endsWith(` ${heading}`));
  if (start === -1) throw new Error(`there is no heading ${heading}`);
  const level = lines[start]?.indexOf(' ') ?? 0;
  const end = lines.findIndex((line, at) => {
    return at > start && /^#+ /.test(line) && line.indexOf(' ') <= level;
  });
  return lines.slice(start, end === -1 ? lines.length : end).join('\n');
}

/** The code blocks of a language, without their fences. */
export function blocks(text: string, language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...text.matchAll(fenced)].map((match) => match[1] ?? '');
}

export function withoutBlocks(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}

/** The rows of the tables of a text, headers left out, each cell without its code marks. */
export function tableRows(text: string): string[][] {
  const lines = withoutBlocks(text)
    .split('\n')
    .filter((line) => line.startsWith('|'));
  const isRule = (line: string | undefined): boolean => /^\| ?-{3}/.test(line ?? '');
  return lines
    .filter((line, at) => !isRule(line) && !isRule(lines[at + 1]))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
    );
}

/** The targets of the links of a text, code left out. */
export function links(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
}

/** The names that links to the headings of a document have. */
export function anchors(text: string): string[] {
  const headings = withoutBlocks(text).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** The members of a value, at all depths; what is in them does not count. */
export function shape(value: unknown): unknown {
  if (Array.isArray(value)) return 'a list';
  if (typeof value !== 'object' || value === null) return 'a value';
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shape(member)]));
}
