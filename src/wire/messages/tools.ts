// Reads the tools of a Messages body and the choice among them.

import { Type } from '@sinclair/typebox';
import { invalidRequest } from '../../core/error.ts';
import type { Tool, ToolChoice } from '../../core/generation.ts';
import {
  described,
  listOf,
  objectOf,
  oneOf,
  readBoolean,
  readNonEmpty,
  readObject,
  readString,
  readToolName,
  readToolSchema,
} from '../check.ts';
import { TOOLS_MAX } from '../limits.ts';
import { readTypedTool, TYPED_PATTERN, TYPED_TOOLS } from './tool-types.ts';

const readChoiceFields = objectOf(
  {
    type: oneOf('auto', 'any', 'none', 'tool'),
    name: readNonEmpty,
    disable_parallel_tool_use: readBoolean,
  },
  ['type'],
);
const readDefinition = objectOf(
  {
    name: readToolName,
    description: readString,
    input_schema: readToolSchema,
  },
  ['name', 'input_schema'],
);

/** Types of tools that the client runs; the second belongs to the other format, sent by mistake. */
const CLIENT_TYPES: readonly unknown[] = ['custom', 'function'];

/**
 * The client runs these too, but their upstream needs a header for betas, and without the tool the
 * model could not do what it was asked.
 */
const REFUSED = /^(?:computer|browser)_/;

const TOOL = Type.Union([
  readDefinition.schema,
  ...TYPED_TOOLS,
  Type.Object(
    {
      type: Type.Unsafe({
        not: {
          anyOf: [
            { enum: [...CLIENT_TYPES, null] },
            { type: 'string', pattern: TYPED_PATTERN },
            { type: 'string', pattern: REFUSED.source },
          ],
        },
      }),
      input_schema: Type.Optional(Type.Null()),
    },
    { description: 'A tool that another service would run. It is ignored.' },
  ),
]);

/** The `tools` of a body; undefined for a tool that another service would run. */
export const readTools = listOf(described(TOOL, readTool), { max: TOOLS_MAX });

/** The `tool_choice`. One without its name is refused even where there is nothing to choose from. */
export const readChoice = described(readChoiceFields.schema, (value, path) => {
  const choice = readChoiceFields(value, path);
  if (choice.type === 'tool' && choice.name === undefined) {
    throw invalidRequest(`${path}.name`, 'is required');
  }
  return choice;
});

/** The last of several tools with the same name counts. */
export function distinctTools(tools: readonly (Tool | undefined)[]): Tool[] {
  const byName = new Map<string, Tool>();
  for (const tool of tools) if (tool !== undefined) byName.set(tool.name, tool);
  return [...byName.values()];
}

/** The choice in neutral terms. It must name one of the tools. */
export function toolChoice(
  choice: ReturnType<typeof readChoice>,
  tools: readonly Tool[],
): ToolChoice {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { kind: choice.type };
    case 'any':
      return { kind: 'required' };
    case 'tool': {
      const { name = '' } = choice;
      if (tools.some((tool) => tool.name === name)) return { kind: 'tool', name };
      throw invalidRequest('tool_choice.name', 'names a tool that is not in tools');
    }
  }
}

function readTool(value: unknown, path: string): Tool | undefined {
  const definition = readObject(value, path);
  const type = definition['type'] ?? 'custom';
  if ((definition['input_schema'] ?? null) === null && !CLIENT_TYPES.includes(type)) {
    if (typeof type === 'string' && REFUSED.test(type)) {
      throw invalidRequest(`${path}.type`, 'is a kind of tool that this service does not offer');
    }
    return readTypedTool(value, path);
  }
  const { name, description, input_schema: parameters } = readDefinition(definition, path);
  return description === undefined ? { name, parameters } : { name, description, parameters };
}
