// What holds of a request that was written for a Messages upstream, by its profile.

import assert from 'node:assert/strict';
import type { GenerationRequest } from '../../../src/core/generation.ts';
import type { MessagesProfile } from '../../../src/core/profile.ts';
import type { UpstreamCall } from '../../../src/wire/format.ts';
import { type JsonMembers as Body, type Json, members } from './json.ts';
import { checkStops, IDS, takeOut } from './written.ts';

export function checkMessages(
  body: Body,
  text: string,
  request: GenerationRequest,
  call: UpstreamCall,
  profile: MessagesProfile,
): void {
  assert.equal(body['max_tokens'], call.maxOutputTokens);
  assert.equal(body['stream'], call.stream ? true : undefined);
  checkStops(body['stop_sequences'], request, profile);
  const { temperature = 0, thinking, tools, tool_choice: choice, system } = body;
  assert.ok(Number(temperature) >= 0 && Number(temperature) <= 1);
  assert.notEqual(system, '');
  const { type: switched, budget_tokens: budget } = members(thinking ?? {});
  const thinks = switched !== undefined && switched !== 'disabled';
  if (!call.reasons) assert.equal(thinking, undefined);
  if (budget !== undefined) {
    assert.ok(Number(budget) >= 1_024 && Number(budget) < call.maxOutputTokens);
  }
  if (profile.sampling === 'omit' || profile.version === '2026-10-21') {
    assert.deepEqual([body['temperature'], body['top_p']], [undefined, undefined]);
  }
  const { format } = members(body['output_config'] ?? {});
  if (request.json && (format === undefined || profile.jsonSchema === 'both')) {
    const { schema, saysSchema } = request;
    const own = saysSchema ? 'Answer with JSON' : JSON.stringify(schema?.schema);
    const instruction = schema === undefined ? 'one JSON object' : own;
    const [block = system] = Array.isArray(system) ? (system as Json[]) : [];
    const text = typeof block === 'string' ? block : members(block ?? {})['text'];
    assert.ok(String(text).includes(instruction), 'what is asked for is in the prompt');
  }
  if (profile.jsonSchema === 'prompt') assert.equal(format, undefined);
  const chosen = choice === undefined ? undefined : members(choice)['type'];
  if (tools === undefined) assert.equal(choice, undefined);
  const isFree = profile.forcedChoice === 'auto' || (profile.forcedChoice !== 'send' && thinks);
  if (isFree) assert.ok(chosen !== 'any' && chosen !== 'tool');
  const isForced = ['required', 'tool'].includes(request.toolChoice?.kind ?? '');
  if (isForced && profile.forcedChoice === 'without_thinking') {
    assert.ok(chosen === 'any' || chosen === 'tool', 'a forced tool is forced');
  }
  for (const { type: typed, input_schema: schema } of listOf(tools)) {
    if (profile.typedTools === 'function') assert.equal(typed, undefined);
    if (typed === undefined) assert.equal(members(schema ?? {})['type'], 'object');
  }
  const messages = (body['messages'] as readonly Json[]).map(members);
  assert.equal(messages[0]?.['role'], 'user', 'a conversation begins with the user');
  checkMessagesOrder(messages, profile);
  checkLast(messages.at(-1));
  checkInputs(text, request);
  checkMarks(body, messages, profile);
}

/** At most four are taken, none on thinking. A mark is nothing but its type. */
function checkMarks(body: Body, messages: readonly Body[], profile: MessagesProfile): void {
  const { tools = [], system = '' } = body;
  const rest = [tools, system].flatMap((list) => (Array.isArray(list) ? list.map(members) : []));
  const marked = [...rest, ...messages.flatMap(blocksOf)].filter(
    ({ cache_control: mark }) => mark !== undefined,
  );
  if (profile.cacheMarks === 'none') assert.equal(marked.length, 0);
  if (profile.contentParts === 'never') {
    assert.notEqual(typeof system, 'object');
    for (const { content } of messages) {
      const isText = (content as readonly Json[]).every?.(
        (each) => members(each)['type'] === 'text',
      );
      assert.ok(typeof content === 'string' || !isText, 'text is a string');
    }
  }
  assert.ok(marked.length <= 4);
  for (const { type = 'tool', cache_control: mark } of marked) {
    assert.deepEqual(mark, { type: 'ephemeral' });
    assert.match(String(type), /^(?:tool|text|image|tool_result|bash_\d+)$/);
  }
}

function listOf(tools: Json | undefined): Body[] {
  return ((tools ?? []) as readonly Json[]).map(members);
}

function blocksOf(message: Body): Body[] {
  const { content = [] } = message;
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return (content as readonly Json[]).map(members);
}

function checkMessagesOrder(messages: readonly Body[], profile: MessagesProfile): void {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const { role } = message;
    const blocks = blocksOf(message);
    assert.ok(blocks.length > 0, 'a message has content');
    assert.notEqual(role, messages[index - 1]?.['role'], 'roles alternate');
    if (role === 'system') assert.equal(profile.systemInMiddle, 'keep');
    let isBehindResults = false;
    for (const block of blocks) {
      if (block['type'] === 'tool_result') {
        assert.ok(role === 'user' && !isBehindResults, 'results come first');
        takeOut(open, block['tool_use_id']);
      } else {
        isBehindResults = true;
      }
      checkBlock(block, profile);
    }
    assert.deepEqual(open, [], 'every call has its result in the next message');
    open = blocks.flatMap((block) => (block['type'] === 'tool_use' ? [String(block['id'])] : []));
  }
}

/** Vendors refuse an answer to go on with that ends with white space. */
function checkLast(message: Body | undefined): void {
  if (message?.['role'] !== 'assistant') return;
  const { text = 'x' } = blocksOf(message).at(-1) ?? {};
  assert.match(String(text), /\S$/u, 'white space at the end of a text to go on with');
}

function checkBlock(block: Body, profile: MessagesProfile): void {
  if (block['type'] === 'text') assert.notEqual(String(block['text']).trim(), '', 'a blank block');
  if (block['type'] !== 'tool_use') return;
  assert.match(String(block['id']), IDS[profile.toolIds]);
  members(block['input']);
}

/** An escape of what may be half of a character, which is repaired. */
const HALF = /\\ud[89a-f]/i;

/** Arguments that are an object stand in the text byte for byte, in the order of the calls. */
function checkInputs(text: string, request: GenerationRequest): void {
  let from = 0;
  for (const turn of request.turns) {
    for (const made of turn.role === 'assistant' ? turn.toolCalls : []) {
      const isObject = /^\s*\{/.test(made.arguments) && parses(made.arguments);
      if (HALF.test(made.arguments)) continue;
      const at = text.indexOf(`"input":${isObject ? made.arguments : ''}`, from);
      assert.notEqual(at, -1, 'arguments stay as they were written');
      from = at + 1;
    }
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
