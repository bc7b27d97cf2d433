// Builds the playground's request in the chosen format. Pure, so that the code shown is the request
// sent.

import { type Answer, argumentsOf, type ToolCall } from './answer.ts';
import { type Model, type ParameterValues, parameterValues, type Settings } from './settings.ts';
import { chosenTool, readTools, type Tool, toolChoices } from './tools.ts';

/** Below the base URL of the API and of the playground. */
export const PATHS = {
  chat: '/chat/completions',
  messages: '/messages',
  responses: '/responses',
} as const;

/** An image of a message. */
export type Picture = {
  readonly name: string;
  /** The media type. */
  readonly type: string;
  /** Base64; empty if the image was not kept over a reload. */
  readonly data: string;
};

export type UserTurn = {
  readonly kind: 'user';
  readonly text: string;
  readonly pictures: readonly Picture[];
};

export type Turn =
  | UserTurn
  | { readonly kind: 'assistant'; readonly answer: Answer; readonly facts: Facts }
  /** The result that the user wrote for a tool call. */
  | { readonly kind: 'tool'; readonly callId: string; readonly text: string };

/** How the request of an answer ended. */
export type Facts = {
  readonly requestId: string | undefined;
  /** The model that was asked. */
  readonly asked: string;
  /** The model that answered. */
  readonly model: string | undefined;
  /** Milliseconds to the first content; absent for a whole answer. */
  readonly firstMs: number | undefined;
  readonly totalMs: number;
  /** `stopped` by the user. An answer ended by an error contains the error. */
  readonly end: 'complete' | 'stopped' | 'failed';
};

export type RequestBody = Readonly<Record<string, unknown>>;

/** What each format writes in its own way. */
type Parts = {
  readonly turns: readonly Turn[];
  readonly system: string | undefined;
  readonly parameters: ParameterValues;
  readonly tools: readonly Tool[];
  /** Undefined: left to the model. */
  readonly toolChoice: string | undefined;
};

/** Tools that cannot be read are left out, and a choice among them with them. */
export function requestBody(settings: Settings, model: Model, turns: readonly Turn[]): RequestBody {
  const { format, system, toolChoice, stream } = settings;
  const read = model.features.tools ? readTools(settings.tools) : [];
  const tools = typeof read === 'string' ? [] : read;
  const parts = WRITERS[format]({
    turns: turns.filter(isSent),
    system: system.trim() === '' ? undefined : system,
    parameters: parameterValues(settings, model),
    tools,
    toolChoice: toolChoices(tools).find((choice) => choice === toolChoice),
  });
  return present({ model: model.id, ...parts, stream: stream || undefined });
}

const WRITERS = { chat: chatBody, messages: messagesBody, responses: responsesBody };

/** A message that another one follows was never answered: it is not sent again. */
export function isSent({ kind }: Turn, index: number, turns: readonly Turn[]): boolean {
  return kind !== 'user' || turns[index + 1]?.kind !== 'user';
}

function chatBody({ turns, system, parameters, tools, toolChoice }: Parts): RequestBody {
  const { thinking, response_format: answerFormat, ...same } = parameters;
  const messages = turns.map(chatMessage);
  const name = chosenTool(toolChoice);
  return {
    messages: system ? [{ role: 'system', content: system }, ...messages] : messages,
    ...same,
    thinking: thinking && { type: thinking },
    response_format: answerFormat && { type: answerFormat },
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ type: 'function', function: present(tool) })),
      tool_choice: name ? { type: 'function', function: { name } } : toolChoice,
    }),
  };
}

function chatMessage(turn: Turn): RequestBody {
  if (turn.kind === 'tool') return { role: 'tool', tool_call_id: turn.callId, content: turn.text };
  if (turn.kind === 'user') {
    const images = sentPictures(turn).map(({ type, data }) => ({
      type: 'image_url',
      image_url: { url: `data:${type};base64,${data}` },
    }));
    return { role: 'user', content: withImages(images, turn.text) };
  }
  const { text, reasoning, calls } = turn.answer;
  if (calls.length === 0) return { role: 'assistant', content: text };
  return present({
    role: 'assistant',
    content: text || null,
    // A model needs its own reasoning back while it uses tools.
    reasoning_content: reasoning || undefined,
    tool_calls: calls.map(({ id, name, arguments: json }) => ({
      id,
      type: 'function',
      function: { name, arguments: json || '{}' },
    })),
  });
}

/** Images that were not kept over a reload cannot be sent. */
function sentPictures({ pictures }: UserTurn): readonly Picture[] {
  return pictures.filter(({ data }) => data !== '');
}

function withImages(images: readonly object[], text: string): string | readonly object[] {
  return images.length === 0 ? text : [...images, ...textParts(text)];
}

function textParts(text: string): readonly object[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function messagesBody({ turns, system, parameters, tools, toolChoice }: Parts): RequestBody {
  const { stop, thinking: type, budget_tokens: budget, user, ...same } = parameters;
  const name = chosenTool(toolChoice);
  return {
    ...same,
    system,
    messages: turns.reduce(addMessage, []),
    stop_sequences: stop,
    thinking: type && present({ type, budget_tokens: type === 'enabled' ? budget : undefined }),
    ...(tools.length > 0 && {
      tools: tools.map(({ parameters: schema, ...tool }) =>
        present({ ...tool, input_schema: schema }),
      ),
      tool_choice: name
        ? { type: 'tool', name }
        : toolChoice && { type: toolChoice === 'required' ? 'any' : toolChoice },
    }),
    metadata: user && { user_id: user },
  };
}

type Message = {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly object[];
};

/** The results of all calls of a turn are sent in one message. */
function addMessage(messages: readonly Message[], turn: Turn): readonly Message[] {
  if (turn.kind === 'user') {
    const images = sentPictures(turn).map(({ type, data }) => ({
      type: 'image',
      source: { type: 'base64', media_type: type, data },
    }));
    return [...messages, { role: 'user', content: withImages(images, turn.text) }];
  }
  if (turn.kind === 'assistant') return [...messages, assistantMessage(turn.answer)];
  const result = { type: 'tool_result', tool_use_id: turn.callId, content: turn.text };
  const last = messages.at(-1);
  if (last?.role !== 'user' || typeof last.content === 'string') {
    return [...messages, { role: 'user', content: [result] }];
  }
  return [...messages.slice(0, -1), { role: 'user', content: [...last.content, result] }];
}

function assistantMessage({ text, reasoning, signature, calls }: Answer): Message {
  if (calls.length === 0) return { role: 'assistant', content: text };
  const thinking = { type: 'thinking', thinking: reasoning, signature };
  return {
    role: 'assistant',
    content: [
      ...(reasoning === '' || signature === '' ? [] : [thinking]),
      ...textParts(text),
      ...calls.map((call) => ({
        type: 'tool_use',
        id: call.id,
        name: call.name,
        input: argumentsOf(call) ?? {},
      })),
    ],
  };
}

function responsesBody({ turns, system, parameters, tools, toolChoice }: Parts): RequestBody {
  const {
    max_tokens: bound,
    response_format: format,
    reasoning_effort: effort,
    ...same
  } = parameters;
  const name = chosenTool(toolChoice);
  return {
    instructions: system,
    input: turns.flatMap(itemsOf),
    ...same,
    max_output_tokens: bound,
    text: format && { format: { type: format } },
    // Thinking is shown to those that ask for its summary.
    reasoning: effort ? { effort, summary: 'auto' } : { summary: 'auto' },
    ...(tools.length > 0 && {
      tools: tools.map((tool) => present({ type: 'function', ...tool })),
      tool_choice: name ? { type: 'function', name } : toolChoice,
    }),
  };
}

function itemsOf(turn: Turn): readonly object[] {
  if (turn.kind === 'tool') {
    return [{ type: 'function_call_output', call_id: turn.callId, output: turn.text }];
  }
  if (turn.kind === 'user') {
    const images = sentPictures(turn).map(({ type, data }) => ({
      type: 'input_image',
      image_url: `data:${type};base64,${data}`,
    }));
    const text = turn.text === '' ? [] : [{ type: 'input_text', text: turn.text }];
    return [{ role: 'user', content: images.length === 0 ? turn.text : [...images, ...text] }];
  }
  const { text, reasoning, calls } = turn.answer;
  // A model needs its own reasoning back while it uses tools.
  const summary = [{ type: 'summary_text', text: reasoning }];
  const isNeeded = calls.length > 0 && reasoning !== '';
  return [
    ...(isNeeded ? [{ type: 'reasoning', summary }] : []),
    ...(text === '' && calls.length > 0 ? [] : [{ role: 'assistant', content: text }]),
    ...calls.map(({ id, name, arguments: json }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: json || '{}',
    })),
  ];
}

/** The calls of the last answer without a result. */
export function openCalls(turns: readonly Turn[]): readonly ToolCall[] {
  const asked = turns.findLastIndex(({ kind }) => kind === 'assistant');
  const turn = turns[asked];
  if (turn?.kind !== 'assistant') return [];
  const answered = turns
    .slice(asked + 1)
    .flatMap((each) => (each.kind === 'tool' ? each.callId : []));
  return turn.answer.calls.filter(({ id }) => !answered.includes(id));
}

/** The turns before the user's message with this number. */
export function turnsBefore(turns: readonly Turn[], place: number): readonly Turn[] {
  const messages = turns.filter(({ kind }) => kind === 'user');
  const message = messages[place];
  return message === undefined ? turns : turns.slice(0, turns.indexOf(message));
}

/** Drops members that are undefined. */
function present(fields: Readonly<Record<string, unknown>>): RequestBody {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Output tokens a second, from the first one on. */
export function speedOf(
  output: number | undefined,
  { firstMs, totalMs }: Facts,
): number | undefined {
  if (output === undefined || firstMs === undefined || totalMs <= firstMs) return undefined;
  return (output * 1_000) / (totalMs - firstMs);
}
