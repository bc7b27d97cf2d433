// Collects the messages of pages and mails from their source, at build time: the first argument of each
// call of `t`, `rich` and `say`. Also finds texts that do not pass through them.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '@babel/parser';
import { Glob } from 'bun';

export type FoundMessage = {
  readonly text: string;
  readonly file: string;
  readonly line: number;
  /** The names in the object of arguments; undefined where it is not a literal. */
  readonly names: readonly string[] | undefined;
};

export type Extracted = {
  readonly messages: readonly FoundMessage[];
  /** Texts in the markup that no catalogue can translate: `file:line: text`. */
  readonly untranslated: readonly string[];
};

type AnyNode = { readonly type: string; readonly [name: string]: unknown };

const FUNCTIONS = new Set(['t', 'rich', 'say']);

/** Files without markup need no reading where they have none. */
const CALL = /\b(?:t|rich|say)\(/;

/** The folders with texts that the server writes itself, below `src`: pages and mails. */
export const WRITTEN_FOLDERS = ['dashboard/public', 'identity/sign-in'] as const;

/** The folders with texts; one that does not exist has none. */
export const TEXT_FOLDERS = ['web', ...WRITTEN_FOLDERS] as const;

/** The same of sentences for the console. */
export const SENTENCE_FOLDERS = [
  'core',
  'catalog',
  'operations',
  'server',
  'cluster',
  'dashboard/operator',
] as const;

/** Attributes whose value people read. */
const READ_ATTRIBUTES = new Set(['title', 'label', 'placeholder', 'lead', 'hint', 'aria-label']);

/** Elements whose content is code. */
const CODE_ELEMENTS = new Set(['code', 'kbd', 'pre']);

/** `folders` are below `root`; file names in the result are, too. */
export async function extractMessages(
  root: string,
  folders: readonly string[],
): Promise<Extracted> {
  const messages: FoundMessage[] = [];
  const untranslated: string[] = [];
  for (const folder of folders) {
    if (!existsSync(join(root, folder))) continue;
    for await (const file of new Glob('**/*.{ts,tsx}').scan(join(root, folder))) {
      const name = join(folder, file);
      const source = await Bun.file(join(root, name)).text();
      if (name.endsWith('x') || CALL.test(source)) read(name, source, messages, untranslated);
    }
  }
  const byPlace = (one: FoundMessage, other: FoundMessage) =>
    one.file === other.file ? one.line - other.line : one.file < other.file ? -1 : 1;
  return { messages: messages.sort(byPlace), untranslated: untranslated.sort() };
}

function read(
  file: string,
  source: string,
  messages: FoundMessage[],
  untranslated: string[],
): void {
  const tree = parse(source, { sourceType: 'module', plugins: ['typescript', 'jsx'] });
  walk(tree.program as unknown as AnyNode, (node) => {
    const line = (node['loc'] as { start: { line: number } } | undefined)?.start.line ?? 0;
    if (node.type === 'CallExpression') {
      const callee = node['callee'] as AnyNode;
      const [first, second] = node['arguments'] as readonly AnyNode[];
      if (callee.type !== 'Identifier' || !FUNCTIONS.has(String(callee['name']))) return true;
      if (first?.type === 'StringLiteral') {
        messages.push({ text: String(first['value']), file, line, names: namesOf(second) });
      } else {
        untranslated.push(`${file}:${line}: the message of ${callee['name']} is not a literal`);
      }
    } else if (node.type === 'JSXElement') {
      const { name } = node['openingElement'] as { name: { name?: unknown } };
      return !CODE_ELEMENTS.has(String(name.name));
    } else if (node.type === 'JSXText') {
      const text = String(node['value']).trim();
      if (/\p{L}/u.test(text)) untranslated.push(`${file}:${line}: ${text}`);
    } else if (node.type === 'JSXAttribute') {
      const name = (node['name'] as { name?: unknown }).name;
      const value = node['value'] as AnyNode | null;
      if (value?.type === 'StringLiteral' && READ_ATTRIBUTES.has(String(name))) {
        const text = String(value['value']);
        if (/\p{L}/u.test(text)) untranslated.push(`${file}:${line}: ${String(name)}="${text}"`);
      }
    }
    return true;
  });
}

function namesOf(values: AnyNode | undefined): readonly string[] | undefined {
  if (values === undefined) return [];
  if (values.type !== 'ObjectExpression') return undefined;
  const properties = values['properties'] as readonly AnyNode[];
  if (properties.some(({ type }) => type === 'SpreadElement')) return undefined;
  return properties.map((property) => {
    const key = property['key'] as { name?: unknown; value?: unknown } | undefined;
    return String(key?.name ?? key?.value);
  });
}

/** `visit` returns whether to go below a node. */
function walk(node: AnyNode, visit: (node: AnyNode) => boolean): void {
  if (!visit(node)) return;
  for (const [name, value] of Object.entries(node)) {
    if (name === 'loc') continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, visit);
    }
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}
