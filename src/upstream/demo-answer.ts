// The answers of the built-in demo models: a pure function of the request that says clearly that no
// language model is behind it. The demo upstream converts them to bytes.

import type { JsonObject, JsonValue } from '../core/generation.ts';
import { isObject } from '../core/json.ts';
import { toList, toObject, toText } from '../wire/upstream/narrow.ts';

/** The fields of a chat-completions request that the demo uses. */
export type DemoRequest = {
  readonly model: string;
  readonly messages: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
  readonly toolChoice: unknown;
  readonly stop: readonly string[];
  readonly maxTokens: number;
  readonly json: boolean;
  readonly thinks: boolean;
  readonly stream: boolean;
  readonly includeUsage: boolean;
};

export type DemoAnswer = {
  readonly reasoning: string;
  readonly text: string;
  readonly call:
    | { readonly id: string; readonly name: string; readonly arguments: string }
    | undefined;
  readonly finish: 'stop' | 'length' | 'tool_calls';
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
};

const DEMO_REASONER = 'demo-reasoner';

const INTRODUCTION =
  "This is Tollgate's built-in demonstration model; no language model is behind it.";

const QUOTE_LENGTH = 80;

/** A rule of thumb that keeps the demo's usage in proportion to its text. */
const CHARACTERS_PER_TOKEN = 4;

/** The maximum depth and width of generated tool arguments, regardless of the schema. */
const SAMPLE_DEPTH_MAX = 5;
const SAMPLE_MEMBERS_MAX = 16;

/** Reads a parsed body; undefined if it is not a chat-completions request. */
export function readDemoRequest(value: unknown): DemoRequest | undefined {
  if (!isObject(value) || !Array.isArray(value['messages'])) return undefined;
  const { stop, max_tokens: maxTokens } = value;
  const model = toText(value['model']);
  return {
    model,
    messages: value['messages'].filter(isObject),
    tools: toList(value['tools']).map((tool) => toObject(toObject(tool)['function'])),
    toolChoice: value['tool_choice'],
    stop: (typeof stop === 'string' ? [stop] : toList(stop))
      .map(toText)
      .filter((text) => text !== ''),
    maxTokens: typeof maxTokens === 'number' ? maxTokens : Number.POSITIVE_INFINITY,
    json: toObject(value['response_format'])['type'] === 'json_object',
    thinks: model === DEMO_REASONER && toObject(value['thinking'])['type'] !== 'disabled',
    stream: value['stream'] === true,
    includeUsage: toObject(value['stream_options'])['include_usage'] === true,
  };
}

/** The answer, cut at the request's stop sequences and token bound. */
export function writeDemoAnswer(request: DemoRequest): DemoAnswer {
  const tool = chooseTool(request);
  const text = tool === undefined ? cutAtStop(writeText(request), request.stop) : '';
  const written =
    tool === undefined ? '' : JSON.stringify(sampleObject(toObject(tool['parameters']), 0));
  const thought = request.thinks ? writeReasoning(request, tool) : '';

  let left = request.maxTokens * CHARACTERS_PER_TOKEN;
  const take = (whole: string): string => {
    const taken = whole.slice(0, Math.max(0, left));
    left -= taken.length;
    return taken;
  };
  const reasoning = take(thought);
  const shown = take(text);
  const args = take(written);
  const produced = reasoning.length + shown.length + args.length;
  const wasCut = produced < thought.length + text.length + written.length;
  // A call without any arguments is dropped.
  const hasCall = tool !== undefined && args !== '';
  // The position in the conversation keeps the id different from those of earlier turns.
  const id = `call_demo_${request.messages.length}`;
  return {
    reasoning,
    text: shown,
    call: hasCall ? { id, name: toText(tool['name']), arguments: args } : undefined,
    finish: wasCut ? 'length' : hasCall ? 'tool_calls' : 'stop',
    promptTokens: countTokens(promptLength(request)),
    completionTokens: countTokens(produced),
    reasoningTokens: countTokens(reasoning.length),
  };
}

/** Calls one tool per user turn: the forced one, else the first. */
function chooseTool(request: DemoRequest): JsonObject | undefined {
  if (request.toolChoice === 'none' || request.messages.at(-1)?.['role'] !== 'user')
    return undefined;
  const forced = toObject(toObject(request.toolChoice)['function'])['name'];
  return request.tools.find((tool) => tool['name'] === forced) ?? request.tools[0];
}

function writeText(request: DemoRequest): string {
  const last = request.messages.at(-1) ?? {};
  const content = contentText(last['content']);
  const count = request.messages.length;
  const messages = count === 1 ? 'one message' : `${count} messages`;
  const about =
    last['role'] === 'tool'
      ? `A tool result of ${content.length} characters came back.`
      : `Your request has ${messages}, and the last one begins: “${quote(content)}”`;
  if (!request.json) return `${INTRODUCTION} ${about}`;
  return JSON.stringify({ demonstration: true, notice: INTRODUCTION, about, messages: count });
}

function writeReasoning(request: DemoRequest, tool: JsonObject | undefined): string {
  const plan = tool === undefined ? 'so I answer in words.' : 'so I call one before I answer.';
  const count = request.tools.length;
  return `These words stand where a reasoning model would think. The request offers ${count} tools, ${plan}`;
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return toList(content)
    .map((part) => toText(toObject(part)['text']))
    .join(' ');
}

function quote(text: string): string {
  const characters = Array.from(
    text
      .slice(0, QUOTE_LENGTH * 2)
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  const start = characters.slice(0, QUOTE_LENGTH).join('');
  return characters.length > QUOTE_LENGTH ? `${start}…` : start;
}

function cutAtStop(text: string, stop: readonly string[]): string {
  const found = stop.map((sequence) => text.indexOf(sequence)).filter((at) => at !== -1);
  return found.length === 0 ? text : text.slice(0, Math.min(...found));
}

function promptLength({ messages, tools }: DemoRequest): number {
  const texts = messages.map((message) => {
    const calls = message['tool_calls'];
    return contentText(message['content']).length + (calls ? JSON.stringify(calls).length : 0);
  });
  return texts.reduce((sum, length) => sum + length, tools.length && JSON.stringify(tools).length);
}

function countTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** The required members of an object schema, each with a plausible value. */
function sampleObject(schema: JsonObject, depth: number): JsonObject {
  const properties = toObject(schema['properties']);
  const names = toList(schema['required']).map(toText).slice(0, SAMPLE_MEMBERS_MAX);
  return Object.fromEntries(
    names.map((name) => [name, sampleValue(toObject(properties[name]), depth + 1)]),
  );
}

function sampleValue(schema: JsonObject, depth: number): JsonValue {
  if (depth > SAMPLE_DEPTH_MAX) return null;
  if (schema['const'] !== undefined) return schema['const'];
  if (schema['default'] !== undefined) return schema['default'];
  const [choice] = toList(schema['enum']);
  if (choice !== undefined) return choice;
  const [variant] = [...toList(schema['anyOf']), ...toList(schema['oneOf'])];
  if (isObject(variant)) return sampleValue(variant, depth + 1);
  const [type = schema['type']] = toList(schema['type']).filter((name) => name !== 'null');
  switch (type) {
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array': {
      const needsItem = typeof schema['minItems'] === 'number' && schema['minItems'] > 0;
      return needsItem ? [sampleValue(toObject(schema['items']), depth + 1)] : [];
    }
    case 'object':
      return sampleObject(schema, depth);
    default:
      return 'example';
  }
}
