// Parses the tools typed into the playground. Accepts any format and sends the chosen one.

import { t } from '../../text/t.ts';

export type Tool = {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON schema. */
  readonly parameters: unknown;
};

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

/** The tools, or why the text has none. Blank text means no tools. */
export function readTools(text: string): readonly Tool[] | string {
  if (text.trim() === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value)) {
      return t('Enter a list of tools: {example}.', { example: SHORT_EXAMPLE });
    }
    const tools = value.map(readTool);
    const wrong = tools.findIndex(({ name }) => typeof name !== 'string' || !NAME.test(name));
    if (wrong < 0) return tools;
    return t('Tool {number} needs a name of letters, digits, _ and -, and parameters.', {
      number: wrong + 1,
    });
  } catch (error) {
    return t('Invalid JSON. {reason}', { reason: error instanceof Error ? error.message : '' });
  }
}

type ToolFields = Partial<Tool> & {
  readonly input_schema?: unknown;
  /** The wrapper of the other fields in the chat-completions format. */
  readonly function?: ToolFields;
};

function readTool(value: ToolFields | null): Tool {
  const outer = value ?? {};
  const { name = '', description, parameters, input_schema: schema } = outer.function ?? outer;
  return {
    name,
    description,
    parameters: parameters ?? schema ?? { type: 'object', properties: {} },
  };
}

/** The values of a tool choice, without the one that leaves it to the model. */
export function toolChoices(tools: readonly Tool[]): readonly string[] {
  return ['auto', 'none', 'required', ...tools.map(({ name }) => `tool:${name}`)];
}

/** Undefined if the choice names no tool. */
export function chosenTool(choice: string | undefined): string | undefined {
  return choice?.startsWith('tool:') ? choice.slice('tool:'.length) : undefined;
}
