// The model behind the vendors' test suites: it calls the tool that a prompt refers to, fills
// arguments and structured answers from their schema, and otherwise says hello. It knows no suite
// by name.

import { play } from '../../test/support/behaviours.ts';
import type { Piece } from '../../test/support/render.ts';
import type { Exchange } from '../../test/support/upstream.ts';

type Json = Readonly<Record<string, unknown>>;

const HELLO = ['Hello! ', 'How can I help ', 'you today?'];

/** What each dialect says of a request. */
type Asked = {
  /** The last words of the user. */
  readonly prompt: string;
  /** Everything that is said before it. */
  readonly context: string;
  readonly hasResults: boolean;
  readonly tools: readonly { readonly name: string; readonly schema: Json }[];
  /** A name, or whether any tool has to be called. */
  readonly forced: string | boolean;
  readonly forbidden: boolean;
  readonly json: boolean;
  readonly schema: Json | undefined;
};

export function answer(exchange: Exchange): void | Promise<void> {
  const { body: sent, dialect, text } = exchange.request;
  const body = dialect === 'responses' ? asChat(sent) : sent;
  const asked = read(body);
  const thinking = isObject(body['thinking']) && body['thinking']['type'] === 'enabled';
  const pieces = [...(thinking ? [{ reasoning: 'Let me think.' }] : []), ...say(asked)];
  const length = JSON.stringify(pieces).length;
  const usage = {
    prompt: Math.ceil(text.length / 4),
    cached: 0,
    completion: Math.ceil(length / 8),
  };
  const finish = pieces.some((piece) => 'tool' in piece) ? 'tool_calls' : 'stop';
  return play({ pieces, finish, usage })(exchange);
}

function say(asked: Asked): Piece[] {
  const tool = chooseTool(asked);
  if (tool !== undefined) {
    const json = JSON.stringify(createFilling(asked.prompt, tool.schema)(tool.schema));
    const id = `call_${Bun.hash(asked.prompt).toString(36)}`;
    return [{ tool: 0, id, name: tool.name, json }];
  }
  if (!asked.json) return HELLO.map((text) => ({ text }));
  const schema = asked.schema ?? schemaIn(asked.context) ?? schemaOfNames(asked.prompt);
  return [{ text: JSON.stringify(createFilling(asked.prompt, schema)(schema)) }];
}

function chooseTool({ tools, forced, forbidden, hasResults, prompt }: Asked) {
  if (forbidden || tools.length === 0) return undefined;
  if (typeof forced === 'string') return tools.find(({ name }) => name === forced);
  if (hasResults) return undefined;
  const words = prompt.toLowerCase();
  const meant = tools.find(({ name }) =>
    name.split('_').some((part) => part.length > 3 && words.includes(part)),
  );
  return meant ?? (forced || words.includes('tool') ? tools[0] : undefined);
}

/** A Responses request in the words of chat, with thinking as Messages has it. */
function asChat(body: Json): Json {
  const format = objectOf(objectOf(body['text'])['format']);
  const effort = objectOf(body['reasoning'])['effort'] ?? 'none';
  return {
    ...body,
    system: body['instructions'],
    messages: listOf(body['input']).map((item) =>
      item['type'] === 'function_call_output' ? { role: 'tool', content: item['output'] } : item,
    ),
    response_format: { ...format, json_schema: format },
    thinking: { type: effort === 'none' ? 'disabled' : 'enabled' },
  };
}

function read(body: Json): Asked {
  const messages = listOf(body['messages']);
  const isResult = (message: Json): boolean =>
    message['role'] === 'tool' ||
    listOf(message['content']).some(({ type }) => type === 'tool_result');
  const at = messages.findLastIndex((message) => message['role'] === 'user' && !isResult(message));
  const before = messages.slice(0, Math.max(0, at)).map(textOf);
  const system = textOf({ content: body['system'] });
  const format = objectOf(body['response_format']);
  const choice = body['tool_choice'];
  const { type: chosen = choice, name, function: named } = objectOf(choice);
  const context = [system, ...before].join('\n');
  return {
    prompt: textOf(messages[at] ?? {}),
    context: `${context}\n${messages
      .slice(at + 1)
      .map(textOf)
      .join('\n')}`,
    hasResults: messages.slice(at + 1).some(isResult),
    tools: listOf(body['tools']).map((tool) => {
      const {
        name,
        parameters,
        input_schema: schema,
      } = { ...tool, ...objectOf(tool['function']) } as Json;
      return { name: String(name), schema: objectOf(schema ?? parameters) };
    }),
    forced:
      String(objectOf(named)['name'] ?? name ?? '') || chosen === 'required' || chosen === 'any',
    forbidden: chosen === 'none',
    json:
      ['json_object', 'json_schema'].includes(String(format['type'])) || /\bJSON\b/.test(system),
    schema:
      format['type'] === 'json_schema'
        ? objectOf(objectOf(format['json_schema'])['schema'])
        : undefined,
  };
}

/** The first JSON object in a text that is a schema. */
function schemaIn(text: string): Json | undefined {
  for (let from = text.indexOf('{'); from !== -1; from = text.indexOf('{', from + 1)) {
    for (let to = text.indexOf('}', from); to !== -1; to = text.indexOf('}', to + 1)) {
      const value = parsed(text.slice(from, to + 1));
      if (value === undefined) continue;
      if ('properties' in value || '$ref' in value) return value;
      break;
    }
  }
  return undefined;
}

/** For prompts that name their keys in quotes. */
function schemaOfNames(prompt: string): Json {
  const names = [...prompt.matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  };
}

/** Fills a schema: numbers in the order of the prompt, text that it quotes, else anything. */
function createFilling(prompt: string, root: Json): (schema: Json) => unknown {
  const numbers = [...prompt.matchAll(/\d+/g)].map(Number);
  const [, quoted = 'some text'] = /'([^']+)'/.exec(prompt) ?? [];
  const fill = (schema: Json): unknown => {
    const { $ref: ref, enum: allowed, const: fixed, properties, items } = schema;
    if (typeof ref === 'string') {
      return fill(
        objectOf(
          ref
            .split('/')
            .slice(1)
            .reduce<unknown>((value, key) => objectOf(value)[key], root),
        ),
      );
    }
    if (fixed !== undefined) return fixed;
    if (Array.isArray(allowed)) return allowed[0];
    const [variant] = listOf(schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']);
    if (variant !== undefined) return fill(variant);
    switch (schema['type']) {
      case 'integer':
      case 'number':
        return numbers.shift() ?? 1;
      case 'boolean':
        return true;
      case 'array':
        return [fill(objectOf(items))];
      case 'string':
        return quoted;
      default: {
        const members = Object.entries(objectOf(properties));
        return Object.fromEntries(members.map(([key, member]) => [key, fill(objectOf(member))]));
      }
    }
  };
  return fill;
}

function textOf({ content }: Json): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map(({ text }) => text ?? '')
    .join('\n');
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function parsed(text: string): Json | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}
