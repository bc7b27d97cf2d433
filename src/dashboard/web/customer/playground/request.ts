// Builds the playground's request in the chosen format. Pure, so that the code shown is the request
// sent.

import type { Answer, ToolCall } from './answer.ts';
import type { Picture } from './picture.ts';
import type { Tool } from './tools.ts';

export type Format = 'chat' | 'messages';

/** Below the base URL of the API and of the playground. */
export const PATHS = { chat: '/chat/completions', messages: '/messages' } as const;

export type Turn =
  | { readonly kind: 'user'; readonly text: string; readonly pictures?: readonly Picture[] }
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

export type NumberName =
  | 'temperature'
  | 'topP'
  | 'frequencyPenalty'
  | 'presencePenalty'
  | 'maxTokens'
  | 'thinkingBudget';

/** Undefined and empty values leave the choice to the model. */
export type Settings = Readonly<Partial<Record<NumberName, number | undefined>>> & {
  readonly format: Format;
  readonly model: string;
  readonly system: string;
  readonly stop: readonly string[];
  /** `reasoning_effort`, of chat completions. */
  readonly reasoning: string;
  /** `thinking.type`. */
  readonly thinking: string;
  /** `response_format.type`, of chat completions. */
  readonly answerFormat: string;
  readonly tools: readonly Tool[];
  /** `auto`, `none`, `required`, or `tool:` and its name. */
  readonly toolChoice: string;
  readonly user: string;
  readonly stream: boolean;
};

export type RequestBody = Readonly<Record<string, unknown>>;

/** The Messages format requires `max_tokens` in every request. */
export const MESSAGES_MAX_TOKENS = 4_096;

export function requestBody(settings: Settings, turns: readonly Turn[]): RequestBody {
  const sent = turns.filter(isSent);
  return settings.format === 'chat' ? chatBody(settings, sent) : messagesBody(settings, sent);
}

/** A message that another one follows was never answered: it is not sent again. */
export function isSent({ kind }: Turn, index: number, turns: readonly Turn[]): boolean {
  return kind !== 'user' || turns[index + 1]?.kind !== 'user';
}

function chatBody(settings: Settings, turns: readonly Turn[]): RequestBody {
  const { system, reasoning, thinking, answerFormat, tools, toolChoice, stop } = settings;
  return present({
    model: settings.model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...turns.map(chatMessage),
    ],
    max_tokens: settings.maxTokens,
    temperature: settings.temperature,
    top_p: settings.topP,
    frequency_penalty: settings.frequencyPenalty,
    presence_penalty: settings.presencePenalty,
    stop: stop.length === 0 ? undefined : stop,
    reasoning_effort: reasoning || undefined,
    thinking: thinking === '' ? undefined : { type: thinking },
    response_format: answerFormat === '' ? undefined : { type: answerFormat },
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map((tool) => ({ type: 'function', function: present(tool) })),
          tool_choice: chatChoice(toolChoice),
        }),
    user: settings.user || undefined,
    stream: settings.stream || undefined,
  });
}

function chatChoice(choice: string): unknown {
  const name = toolOf(choice);
  return name === undefined ? choice || undefined : { type: 'function', function: { name } };
}

function toolOf(choice: string): string | undefined {
  return choice.startsWith('tool:') ? choice.slice(5) : undefined;
}

function chatMessage(turn: Turn): RequestBody {
  if (turn.kind === 'user') {
    const pictures = sentPictures(turn);
    if (pictures.length === 0) return { role: 'user', content: turn.text };
    const images = pictures.map(({ type, data }) => ({
      type: 'image_url',
      image_url: { url: `data:${type};base64,${data}` },
    }));
    return { role: 'user', content: [...images, ...textParts(turn.text)] };
  }
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

/** Images that were not kept over a reload cannot be sent. */
function sentPictures({ pictures = [] }: Extract<Turn, { kind: 'user' }>): readonly Picture[] {
  return pictures.filter(({ data }) => data !== '');
}

function textParts(text: string): readonly object[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function messagesBody(settings: Settings, turns: readonly Turn[]): RequestBody {
  const { system, thinking, thinkingBudget, tools, toolChoice, stop, user } = settings;
  return present({
    model: settings.model,
    max_tokens: settings.maxTokens ?? MESSAGES_MAX_TOKENS,
    system: system.trim() === '' ? undefined : system,
    messages: turns.reduce(addMessage, []),
    temperature: settings.temperature,
    top_p: settings.topP,
    stop_sequences: stop.length === 0 ? undefined : stop,
    thinking:
      thinking === ''
        ? undefined
        : present({
            type: thinking,
            budget_tokens: thinking === 'enabled' ? thinkingBudget : undefined,
          }),
    ...(tools.length === 0
      ? {}
      : { tools: tools.map(messagesTool), tool_choice: messagesChoice(toolChoice) }),
    metadata: user === '' ? undefined : { user_id: user },
    stream: settings.stream || undefined,
  });
}

function messagesChoice(choice: string): unknown {
  if (choice === '') return undefined;
  const name = toolOf(choice);
  if (name !== undefined) return { type: 'tool', name };
  return { type: choice === 'required' ? 'any' : choice };
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
  if (turn.kind === 'user') {
    const pictures = sentPictures(turn);
    const images = pictures.map(({ type, data }) => ({
      type: 'image',
      source: { type: 'base64', media_type: type, data },
    }));
    const content = images.length === 0 ? turn.text : [...images, ...textParts(turn.text)];
    return [...messages, { role: 'user', content }];
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

/** Output tokens a second, from the first one on. */
export function speedOf(
  output: number | undefined,
  { firstMs, totalMs }: Facts,
): number | undefined {
  if (output === undefined || firstMs === undefined || totalMs <= firstMs) return undefined;
  return (output * 1_000) / (totalMs - firstMs);
}
