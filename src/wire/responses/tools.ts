// Reads the tools of a Responses body and the choice among them. Tools of a namespace get one name of
// both parts, because no other format has namespaces. Tools that OpenAI itself runs are left out.

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
import type { Choice } from '../tool-choice.ts';

/** Between a namespace and a name, as MCP clients join them. */
const JOINT = '__';

const readFunction = objectOf(
  {
    type: oneOf('function'),
    name: readToolName,
    description: readString,
    parameters: readToolSchema,
  },
  ['type', 'name'],
);
const readGrammar = objectOf(
  { type: oneOf('grammar'), syntax: oneOf('lark', 'regex'), definition: readString },
  ['type', 'syntax', 'definition'],
);
const readFormatType = oneOf('text', 'grammar');
const FORMAT = Type.Union([Type.Object({ type: Type.Literal('text') }), readGrammar.schema]);
const readFormat = described(FORMAT, (value, path) => {
  const type = readFormatType(readObject(value, path)['type'], `${path}.type`);
  if (type === 'text') return undefined;
  const { syntax, definition } = readGrammar(value, path);
  return { syntax, definition };
});
const readCustom = objectOf(
  { type: oneOf('custom'), name: readToolName, description: readString, format: readFormat },
  ['type', 'name'],
);

const KINDS = ['function', 'custom', 'namespace'];
const IGNORED = Type.Object(
  { type: Type.Unsafe({ type: 'string', not: { enum: KINDS } }) },
  { description: 'A tool that OpenAI runs. It is left out.' },
);
const MEMBER = Type.Union([readFunction.schema, readCustom.schema, IGNORED]);

const readNamespace = objectOf(
  {
    type: oneOf('namespace'),
    name: readToolName,
    tools: listOf(described(MEMBER, readTool), { max: TOOLS_MAX }),
  },
  ['type', 'name', 'tools'],
);
const TOOL = Type.Union([readFunction.schema, readCustom.schema, readNamespace.schema, IGNORED]);

const NAMED = Type.Object({
  type: oneOf('function', 'custom').schema,
  name: readNonEmpty.schema,
  namespace: Type.Optional(Type.Unknown()),
});
const TOOL_CHOICE = Type.Union([
  oneOf('none', 'auto', 'required').schema,
  NAMED,
  Type.Object({
    type: Type.Literal('allowed_tools'),
    mode: oneOf('auto', 'required').schema,
    tools: Type.Array(Type.Unknown(), { minItems: 1, maxItems: TOOLS_MAX, contains: NAMED }),
  }),
]);

/** The `tools` of a body, or of an item. */
export const readTools = described(Type.Array(TOOL, { maxItems: TOOLS_MAX }), (value, path) =>
  readEntries(value, path).flat(),
);
const readEntries = listOf(described(TOOL, readEntry), { max: TOOLS_MAX });

/** The one name of a tool, which repeats no namespace that the name begins with. */
export function joinedName(namespace: string, name: string): string {
  const before = namespace.endsWith(JOINT) ? namespace : namespace + JOINT;
  return name.startsWith(before) ? name : before + name;
}

/** The last of several declarations of one tool counts: clients repeat them in later items. */
export function distinctTools(tools: readonly Tool[]): readonly Tool[] {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    const earlier = byName.get(tool.name);
    if (earlier && !areOne(earlier, tool)) {
      throw invalidRequest(
        'tools',
        'have two tools of the same name, with the namespace before it',
      );
    }
    byName.set(tool.name, tool);
  }
  if (byName.size > TOOLS_MAX) {
    throw invalidRequest('tools', `has ${byName.size} entries; at most ${TOOLS_MAX} are allowed`);
  }
  return [...byName.values()];
}

function areOne({ inNamespace: one }: Tool, { inNamespace: other }: Tool): boolean {
  return one?.namespace === other?.namespace && one?.name === other?.name;
}

/** The `tool_choice` of a body. Refusals always name it, whichever part of it is wrong. */
export const readToolChoice = described(
  TOOL_CHOICE,
  (value, path): ((tools: readonly Tool[]) => Choice) => {
    if (value === 'none' || value === 'auto' || value === 'required')
      return () => ({ kind: value });
    if (isObject(value) && value['type'] === 'allowed_tools') {
      const { mode, tools: entries } = value;
      // More of them would be looked up for too long, and cannot all be declared.
      const isFew = Array.isArray(entries) && entries.length <= TOOLS_MAX;
      const named = isFew ? entries.filter(isNamed) : [];
      if ((mode === 'auto' || mode === 'required') && named.length > 0) {
        return (tools) => {
          return { kind: 'allowed', mode, names: named.map((each) => nameAmong(tools, each)) };
        };
      }
    }
    if (isNamed(value)) return (tools) => ({ kind: 'tool', name: nameAmong(tools, value) });
    throw invalidRequest(
      path,
      'must be "none", "auto", "required", or an object of the type "function" or "custom" with a ' +
        `name, or of the type "allowed_tools" with a mode and 1 to ${TOOLS_MAX} such tools; others are not run here`,
    );
  },
);

type Named = { readonly name: string; readonly namespace?: unknown };

function isNamed(value: unknown): value is Named {
  if (!isObject(value)) return false;
  const { type, name } = value;
  return (type === 'function' || type === 'custom') && typeof name === 'string' && name !== '';
}

/** Clients may leave the namespace out. */
function nameAmong(tools: readonly Tool[], { name, namespace }: Named): string {
  if (typeof namespace === 'string' && namespace !== '') return joinedName(namespace, name);
  if (tools.some((tool) => tool.name === name)) return name;
  return tools.find(({ inNamespace }) => inNamespace?.name === name)?.name ?? name;
}

function readEntry(value: unknown, path: string): readonly Tool[] {
  if (readObject(value, path)['type'] !== 'namespace') return readTool(value, path);
  const { name: namespace, tools } = readNamespace(value, path);
  return tools.flat().map((tool) => {
    const inNamespace = { namespace, name: tool.name };
    return { ...tool, name: joinedName(namespace, tool.name), inNamespace };
  });
}

function readTool(value: unknown, path: string): readonly Tool[] {
  switch (readString(readObject(value, path)['type'], `${path}.type`)) {
    case 'function': {
      const { name, description, parameters } = readFunction(value, path);
      const schema = parameters ?? { type: 'object', properties: {} };
      return [{ name, parameters: schema, ...(description !== undefined && { description }) }];
    }
    case 'custom': {
      const { name, description, format } = readCustom(value, path);
      return [customTool(name, description, format)];
    }
    default:
      return [];
  }
}
