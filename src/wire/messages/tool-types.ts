// The tools that Anthropic defines by a dated type and the client runs, described as functions for
// upstreams that do not know the types. Source: the pages "Bash tool", "Text editor tool" and
// "Memory tool" of platform.claude.com, 2026-11-28.

import { type TSchema, Type } from '@sinclair/typebox';
import type { JsonObject, Tool } from '../../core/generation.ts';
import { described, objectOf, oneOf, type Reader, readObject, readString } from '../check.ts';

type Description = {
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: readonly string[];
};

/** Later versions have kept the inputs of earlier ones. */
const TYPED = /^(bash|text_editor|memory)_(\d{8})$/;

/** Needs a header for betas, which upstreams are not sent; as a function, the tool is the same. */
const BETA_VERSION = '20241022';

const TEXT = { type: 'string' };
const RANGE = {
  type: 'array',
  items: { type: 'integer' },
  description: 'For view: the first and the last line, from 1; -1 is the end.',
};
const EDITS = {
  view_range: RANGE,
  old_str: { ...TEXT, description: 'For str_replace: the text to replace, exactly as it is.' },
  new_str: { ...TEXT, description: 'For str_replace: the text in its place.' },
  file_text: { ...TEXT, description: 'For create: the content of the file.' },
  insert_line: {
    type: 'integer',
    description: 'For insert: the line to insert after; 0 is first.',
  },
};
const INSERT_TEXT = { ...TEXT, description: 'For insert: the text to insert.' };
const PATH = { ...TEXT, description: 'The path of the file or, for view, of a directory.' };
const command = (...words: readonly string[]): JsonObject => ({ type: 'string', enum: words });

const EDITOR = {
  description: 'Views, creates and edits text files. For str_replace, old_str has to occur once.',
  properties: {
    command: command('view', 'str_replace', 'create', 'insert'),
    path: PATH,
    ...EDITS,
    insert_text: INSERT_TEXT,
  },
  required: ['command', 'path'],
};

/** By the name of the tool. */
const DESCRIPTIONS = {
  bash: {
    description:
      'Runs a command in a bash session that keeps its state between calls, and returns its output.',
    properties: {
      command: { ...TEXT, description: 'The command. Required unless restart is true.' },
      restart: { type: 'boolean', description: 'Whether to restart the session.' },
    },
    required: [],
  },
  str_replace_based_edit_tool: EDITOR,
  // The versions of this name take the text of an insertion in the other member.
  str_replace_editor: {
    ...EDITOR,
    properties: {
      command: command('view', 'str_replace', 'create', 'insert', 'undo_edit'),
      path: PATH,
      ...EDITS,
      new_str: { ...TEXT, description: 'For str_replace and insert: the text that is put in.' },
    },
  },
  memory: {
    description:
      'Keeps files in the directory /memories between conversations. View the directory before you ' +
      'begin a task, and note progress there while you work, since your context may end at any time.',
    properties: {
      command: command('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
      path: { ...TEXT, description: 'A path below /memories, for all commands but rename.' },
      ...EDITS,
      insert_text: INSERT_TEXT,
      old_path: { ...TEXT, description: 'For rename: the path of before.' },
      new_path: { ...TEXT, description: 'For rename: the path to be.' },
    },
    required: ['command'],
  },
} satisfies Readonly<Record<string, Description>>;

/** Anthropic refuses other names. */
const readEditor = oneOf('str_replace_based_edit_tool', 'str_replace_editor');
const READERS = new Map([
  ['bash', declaration('bash', oneOf('bash'))],
  ['text_editor', declaration('text_editor', readEditor)],
  ['memory', declaration('memory', oneOf('memory'))],
]);

/** The schemas of the declarations, and the pattern of their types. */
export const TYPED_TOOLS: readonly TSchema[] = [...READERS.values()].map(({ schema }) => schema);
export const TYPED_PATTERN = TYPED.source;

/** The tool that such a type declares; undefined for any other type. */
export function readTypedTool(value: unknown, path: string): Tool | undefined {
  const { type, max_characters: limit } = readObject(value, path);
  const [, kind = '', version] = (typeof type === 'string' && TYPED.exec(type)) || [];
  const declared = READERS.get(kind)?.(value, path);
  if (declared === undefined) return undefined;
  const { name } = declared;
  const { description, properties, required } = DESCRIPTIONS[name];
  const tool = { name, description, parameters: { type: 'object', properties, required } };
  if (version === BETA_VERSION) return tool;
  // How much a view returns: the client applies it, and the model is shown it.
  const bound = typeof limit === 'number' ? { max_characters: limit } : {};
  return { ...tool, typed: { type: declared.type, name, ...bound } };
}

function declaration(kind: string, name: Reader<keyof typeof DESCRIPTIONS>) {
  const type = described(Type.String({ pattern: `^${kind}_\\d{8}$` }), readString);
  return objectOf({ type, name }, ['type', 'name']);
}
