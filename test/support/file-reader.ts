// Models for coding agents that read a file, or add one: they find the agent's own tool for that, call
// it once, and answer from its result. Used by behaviours.ts.

import { type Finish, type Piece, type Script, USAGE } from './render.ts';
import type { RecordedRequest } from './upstream.ts';

/**
 * What the file to read has in it. Its name begins with `note-` and it is named by its whole path.
 */
export function noteText(word: string): string {
  return `The word of this note is ${word}.\n`;
}

/** What the model says once it has seen the file. */
export function noteAnswer(word: string): string {
  return `The note says ${word}.`;
}

/** What the model thinks before it reads the file at `path`. */
export function noteThinking(path: string): string {
  return `First I have to look into ${path}.`;
}

/** One answer to any request of an agent: a call of its reading tool, or the word. */
export function readNote(request: RecordedRequest): Script {
  const word = /word of this note is (\w+)/.exec(request.text)?.[1];
  if (word !== undefined) return answer('stop', { text: noteAnswer(word) });
  const path = /\/[^\s"'`\\]*\/note-\w+\.txt/.exec(request.text)?.[0];
  const tool = findReadingTool(request.body['tools']);
  // Agents also ask for titles and the like, with the same words and without tools.
  if (path === undefined || tool === undefined) return answer('stop', { text: 'A note' });
  const thinking = noteThinking(path);
  // Codex reads files with commands.
  const what = tool.name === 'exec_command' ? `cat '${path}'` : path;
  const json = JSON.stringify(argumentsFor(tool.schema, what));
  return answer(
    'tool_calls',
    { reasoning: thinking.slice(0, 9) },
    { reasoning: thinking.slice(9) },
    { tool: 0, id: `call_${request.earlier}`, name: tool.name, json: '' },
    { tool: 0, json: json.slice(0, 5) },
    { tool: 0, json: json.slice(5) },
  );
}

/** One answer to any request of an agent: a patch that adds `note-1.txt`, or what became of it. */
export function addNote(request: RecordedRequest): Script {
  if (request.text.includes('Updated the following files')) {
    return answer('stop', { text: 'The note is there.' });
  }
  const input = '*** Begin Patch\n*** Add File: note-1.txt\n+"A\\B" is é\n*** End Patch\n';
  const json = JSON.stringify({ input });
  return answer(
    'tool_calls',
    { tool: 0, id: `call_${request.earlier}`, name: 'apply_patch', json: '' },
    { tool: 0, json: json.slice(0, 30) },
    { tool: 0, json: json.slice(30) },
  );
}

function answer(finish: Finish, ...pieces: readonly Piece[]): Script {
  return { pieces, finish, usage: USAGE };
}

type Schema = {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
};

type ReadingTool = { readonly name: string; readonly schema: Schema };

/** Tools have their schemas in different places in the two dialects. */
function findReadingTool(tools: unknown): ReadingTool | undefined {
  if (!Array.isArray(tools)) return undefined;
  for (const entry of tools) {
    const { name, parameters, input_schema: schema = parameters } = entry.function ?? entry;
    if (/^(read(_?files?)?|exec_command)$/i.test(name)) return { name, schema };
  }
  return undefined;
}

/** A value for every required member: the path, where it may be; lists have one element. */
function argumentsFor(schema: Schema, path: string): unknown {
  if (schema.anyOf?.[0] !== undefined) return argumentsFor(schema.anyOf[0], path);
  if (schema.items !== undefined) return [argumentsFor(schema.items, path)];
  if (schema.properties === undefined) return path;
  const { properties, required = [] } = schema;
  const members = required.map((name) => [name, argumentsFor(properties[name] ?? {}, path)]);
  return Object.fromEntries(members);
}
