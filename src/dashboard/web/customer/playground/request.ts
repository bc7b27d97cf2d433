// Builds the playground's request in the chosen format. Pure, so that the code shown is the request
// sent.

import type { Answer, ToolCall } from './answer.ts';
import type { Tool } from './tools.ts';

export type Format = 'chat' | 'messages';

export type Turn =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'assistant'; readonly answer: Answer; readonly facts: Facts }
  /** The result that the user wrote for a tool call. */
  | { readonly kind: 'tool'; readonly callId: string; readonly text: string };

/** How the request of an answer ended. */
export type Facts = {
  readonly requestId: string | undefined;
  /** The model that answered. */
  readonly model: string | undefined;
  /** Milliseconds to the first content; absent for a whole answer. */
  readonly firstMs: number | undefined;
  readonly totalMs: number;
  /** `stopped` by the user. An answer ended by an error contains the error. */
  readonly end: 'complete' | 'stopped' | 'failed';
};

export type Settings = {
  readonly format: Format;
  readonly model: string;
  readonly system: string;
  /** Undefined selects the model's default. */
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
  /** `reasoning_effort` or `thinking.type`, by format; blank selects the model's default. */
  readonly reasoning: string;
  readonly tools: readonly Tool[];
  readonly stream: boolean;
};

export type RequestBody = Readonly<Record<string, unknown>>;

/** The reasoning levels and their labels. */
export const REASONING: Readonly<Record<Format, readonly (readonly [string, string])[]>> = {
  chat: [
    ['', 'Model default'],
    ['none', 'None'],
    ['low', 'Low'],
    ['high', 'High'],
    ['max', 'Max'],
  ],
  messages: [
    ['', 'Model default'],
    ['enabled', 'On'],
    ['disabled', 'Off'],
  ],
};

/** The Messages format requires `max_tokens` in every request. */
export const MESSAGES_MAX_TOKENS = 4_096;

export function requestBody(settings: Settings, turns: readonly Turn[]): RequestBody {
  return settings.format === 'chat' ? chatBody(settings, turns) : messagesBody(settings, turns);
}

function chatBody(settings: Settings, turns: readonly Turn[]): RequestBody {
  const { model, system, temperature, maxTokens, reasoning, tools, stream } = settings;
  return present({
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...turns.map(chatMessage),
    ],
    max_tokens: maxTokens,
    temperature,
    reasoning_effort: reasoning === '' ? undefined : reasoning,
    tools:
      tools.length === 0
        ? undefined
        : tools.map((tool) => ({ type: 'function', function: present(tool) })),
    stream: stream || undefined,
  });
}

function chatMessage(turn: Turn): RequestBody {
  if (turn.kind === 'user') return { role: 'user', content: turn.text };
  if (turn.kind === 'tool') return { role: 'tool', tool_call_id: turn.callId, content: turn.text };
  const { text, reasoning, calls } = turn.answer;
  if (calls.length === 0) return { role: 'assistant', content: text };
  return present({
    role: 'assistant',
    content: text === '' ? null : text,
    // A model needs its own reasoning back while it uses tools.
    reasoning_content: reasoning === '' ? undefined : reasoning,
    tool_calls: calls.map(({ id, name, arguments: json }) => ({
      id,
      type: 'function',
      function: { name, arguments: json === '' ? '{}' : json },
    })),
  });
}

function messagesBody(settings: Settings, turns: readonly Turn[]): RequestBody {
  const { model, system, temperature, maxTokens, reasoning, tools, stream } = settings;
  return present({
    model,
    max_tokens: maxTokens ?? MESSAGES_MAX_TOKENS,
    system: system.trim() === '' ? undefined : system,
    messages: turns.reduce(addMessage, []),
    temperature,
    thinking: reasoning === '' ? undefined : { type: reasoning },
    tools: tools.length === 0 ? undefined : tools.map(messagesTool),
    stream: stream || undefined,
  });
}

function messagesTool({ name, description, parameters }: Tool): RequestBody {
  return present({ name, description, input_schema: parameters });
}

type Message = {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly object[];
};

/** The results of all calls of a turn are sent in one message. */
function addMessage(messages: Message[], turn: Turn): Message[] {
  if (turn.kind === 'user') return [...messages, { role: 'user', content: turn.text }];
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
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(({ id, name, arguments: json }) => ({
        ...{ type: 'tool_use', id, name },
        input: parseInput(json),
      })),
    ],
  };
}

/** An interrupted call has invalid arguments; the format requires an object. */
function parseInput(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
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

/** Drops members that are undefined. */
function present(fields: Readonly<Record<string, unknown>>): RequestBody {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
