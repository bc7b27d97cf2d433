// Reads the tools of a chat-completions body and the choice among them. A custom tool also gets the
// form of a function, because most upstreams have no other.

import { Type } from '@sinclair/typebox';
import { invalidRequest } from '../../core/error.ts';
import type { Tool } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import {
  described,
  listOf,
  objectOf,
  oneOf,
  readNonEmpty,
  readObject,
  readString,
  readToolName,
  readToolSchema,
} from '../check.ts';
import { customTool } from '../custom-tool.ts';
import { TOOLS_MAX } from '../limits.ts';
import type { AllowedTools, Choice } from '../tool-choice.ts';

const readType = oneOf('function', 'custom');
const readFunctionTool = objectOf(
  {
    type: oneOf('function'),
    function: objectOf(
      {
        name: readToolName,
        description: readString,
        parameters: readToolSchema,
      },
      ['name'],
    ),
  },
  ['type', 'function'],
);
const readGrammar = objectOf({ syntax: oneOf('lark', 'regex'), definition: readString }, [
  'syntax',
  'definition',
]);
const readText = objectOf({ type: oneOf('text', 'grammar') }, ['type']);
const readGrammarFormat = objectOf({ type: oneOf('grammar'), grammar: readGrammar }, [
  'type',
  'grammar',
]);
const FORMAT = Type.Union([Type.Object({ type: Type.Literal('text') }), readGrammarFormat.schema]);
const readFormat = described(FORMAT, (value, path) =>
  readText(value, path).type === 'text' ? undefined : readGrammarFormat(value, path).grammar,
);
const readCustomTool = objectOf(
  {
    type: oneOf('custom'),
    custom: objectOf({ name: readToolName, description: readString, format: readFormat }, ['name']),
  },
  ['type', 'custom'],
);
const TOOL = Type.Union([readFunctionTool.schema, readCustomTool.schema]);

const NAMED = Type.Object({ name: readNonEmpty.schema });
const NAMED_TOOL = Type.Union(
  ['function', 'custom'].map((type) => Type.Object({ type: Type.Literal(type), [type]: NAMED })),
);
const TOOL_CHOICE = Type.Union([
  oneOf('none', 'auto', 'required').schema,
  NAMED_TOOL,
  Type.Object({
    type: Type.Literal('allowed_tools'),
    allowed_tools: Type.Object({
      mode: oneOf('auto', 'required').schema,
      tools: Type.Array(NAMED_TOOL, { minItems: 1 }),
    }),
  }),
]);

/** The `tools` of a body. */
export const readTools = described(Type.Array(TOOL, { maxItems: TOOLS_MAX }), (value, path) => {
  const names = new Set<string>();
  const read = described(TOOL, (item, itemPath): Tool => {
    const type = toolType(item, itemPath);
    const tool = type === 'custom' ? readCustom(item, itemPath) : functionTool(item, itemPath);
    if (names.has(tool.name)) {
      throw invalidRequest(`${itemPath}.${type}.name`, 'is the name of an earlier tool too');
    }
    names.add(tool.name);
    return tool;
  });
  return listOf(read, { max: TOOLS_MAX })(value, path);
});

/** The `tool_choice` of a body. Refusals always name it, whichever part of it is wrong. */
export const readToolChoice = described(TOOL_CHOICE, (value, path): Choice => {
  if (value === 'none' || value === 'auto' || value === 'required') return { kind: value };
  const allowed = allowedTools(value);
  if (allowed !== undefined) return allowed;
  const name = chosenName(value);
  if (name !== undefined) return { kind: 'tool', name };
  throw invalidRequest(
    path,
    'must be "none", "auto", "required", or {"type": …} with the type "function" or "custom" and ' +
      'the name of a tool, or with the type "allowed_tools", a mode and tools',
  );
});

function toolType(value: unknown, path: string): 'function' | 'custom' {
  const type = readObject(value, path)['type'];
  return type === undefined ? 'function' : readType(type, `${path}.type`);
}

function functionTool(value: unknown, path: string): Tool {
  const { name, description, parameters } = readFunctionTool(value, path).function;
  const schema = parameters ?? { type: 'object', properties: {} };
  return { name, parameters: schema, ...(description !== undefined && { description }) };
}

function readCustom(value: unknown, path: string): Tool {
  const { name, description, format: grammar } = readCustomTool(value, path).custom;
  return customTool(name, description, grammar);
}

function allowedTools(value: unknown): AllowedTools | undefined {
  if (!isObject(value) || value['type'] !== 'allowed_tools') return undefined;
  const allowed = value['allowed_tools'];
  if (!isObject(allowed) || !Array.isArray(allowed['tools'])) return undefined;
  const { mode, tools } = allowed;
  if ((mode !== 'auto' && mode !== 'required') || tools.length === 0) return undefined;
  const names = tools.map(chosenName);
  return names.every((name) => name !== undefined) ? { kind: 'allowed', mode, names } : undefined;
}

function chosenName(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const { type } = value;
  const chosen = type === 'function' || type === 'custom' ? value[type] : undefined;
  const name = isObject(chosen) ? chosen['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name : undefined;
}
