// Parses the tools typed into the playground. Accepts either format and sends the chosen one.

import { t } from '../../text/t.ts';

export type Tool = {
  readonly name: string;
  readonly description: string | undefined;
  /** A JSON schema. */
  readonly parameters: unknown;
};

export type ReadTools =
  | { readonly tools: readonly Tool[] }
  /** The reason they are invalid. */
  | { readonly problem: string };

export const EXAMPLE_TOOLS = `[
  {
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
      "type": "object",
      "properties": { "city": { "type": "string" } },
      "required": ["city"]
    }
  }
]`;

const SHORT_EXAMPLE = '[ { "name": …, "parameters": { … } } ]';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Blank text means no tools. */
export function readTools(text: string): ReadTools {
  if (text.trim() === '') return { tools: [] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    return { problem: t('Invalid JSON. {reason}', { reason }) };
  }
  if (!Array.isArray(value)) {
    return { problem: t('Enter a list of tools: {example}.', { example: SHORT_EXAMPLE }) };
  }
  const tools = value.map(readTool);
  const wrong = tools.indexOf(undefined);
  if (wrong >= 0) {
    return {
      problem: t('Tool {number} needs a name of letters, digits, _ and -, and parameters.', {
        number: wrong + 1,
      }),
    };
  }
  return { tools: tools.filter((tool) => tool !== undefined) };
}

type ToolFields = {
  readonly name?: unknown;
  readonly description?: unknown;
  readonly parameters?: unknown;
  readonly input_schema?: unknown;
  /** The wrapper of the other fields in the chat-completions format. */
  readonly function?: ToolFields;
};

function readTool(value: unknown): Tool | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const outer = value as ToolFields;
  const { name, description, parameters, input_schema: schema } = outer.function ?? outer;
  if (typeof name !== 'string' || !NAME.test(name)) return undefined;
  return {
    name,
    description: typeof description === 'string' ? description : undefined,
    parameters: parameters ?? schema ?? { type: 'object', properties: {} },
  };
}
