// What holds of a request that was written for a chat-completions upstream, by its profile.

import assert from 'node:assert/strict';
import type { GenerationRequest } from '../../../src/core/generation.ts';
import type { ChatProfile } from '../../../src/core/profile.ts';
import type { UpstreamCall } from '../../../src/wire/format.ts';
import { toolInput } from '../../../src/wire/tool-input.ts';
import { type JsonMembers as Body, type Json, members } from './json.ts';
import { checkStops, IDS, takeOut } from './written.ts';

export function checkChat(
  body: Body,
  request: GenerationRequest,
  call: UpstreamCall,
  profile: ChatProfile,
): void {
  const { maxTokensField } = profile;
  const other = maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  assert.deepEqual([body[maxTokensField], body[other]], [call.maxOutputTokens, undefined]);
  checkStops(body['stop'], request, profile);
  assert.equal(body['stream'], call.stream ? true : undefined);
  const options = call.stream && profile.streamOptions === 'send';
  assert.deepEqual(body['stream_options'], options ? { include_usage: true } : undefined);
  checkFormat(body, request, profile);
  if (profile.sampling === 'send') {
    assert.deepEqual(
      [body['temperature'], body['top_p']],
      [request.temperature, request.topP],
      'a zero is a value',
    );
  } else if (profile.sampling === 'omit') {
    assert.deepEqual([body['temperature'], body['top_p']], [undefined, undefined]);
  }
  if (body['tools'] === undefined) assert.equal(body['tool_choice'], undefined);
  const messages = (body['messages'] as readonly Json[]).map(members);
  checkChatOrder(messages, profile);
  for (const message of messages) checkChatMessage(message, profile);
  const written = messages.flatMap((message) => chatCalls(message).map((made) => made.input));
  const given = request.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.toolCalls : []));
  assert.deepEqual(
    written,
    given.map((made) => toolInput(made.arguments)),
    'an object of arguments stays as it was written, anything else is one',
  );
}

function checkFormat(body: Body, request: GenerationRequest, profile: ChatProfile): void {
  const { json, schema, saysSchema } = request;
  const isSent = schema !== undefined && profile.jsonSchema !== 'prompt';
  const told = isSent ? { type: 'json_schema', json_schema: schema } : { type: 'json_object' };
  const isTold = json && (isSent || profile.jsonMode === 'send');
  // As JSON: a number that is too large for one is none.
  const expected = isTold ? JSON.parse(JSON.stringify(told)) : undefined;
  assert.deepEqual(body['response_format'], expected);
  if (!json || (isSent && profile.jsonSchema === 'send')) return;
  const messages = body['messages'] as readonly Json[];
  assert.match(JSON.stringify(messages), /json/i, 'JSON mode needs the word');
  if (schema === undefined || saysSchema === true) return;
  const [system] = messages.map((message) => JSON.stringify(members(message)['content']));
  const written = JSON.stringify(JSON.stringify(schema.schema)).slice(1, -1);
  assert.ok(system?.includes(written), 'the schema is in the prompt');
}

function chatCalls(message: Body) {
  const calls = (message['tool_calls'] ?? []) as readonly Json[];
  return calls.map((value) => {
    const { id, type, function: called } = members(value);
    assert.equal(type, 'function');
    const { name, arguments: input } = members(called);
    assert.ok(typeof name === 'string' && name !== '');
    return { id: String(id), input };
  });
}

function checkChatOrder(messages: readonly Body[], profile: ChatProfile): void {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const { role } = message;
    const previous = messages[index - 1]?.['role'];
    if (role === 'tool') {
      takeOut(open, message['tool_call_id']);
      continue;
    }
    assert.deepEqual(open, [], 'every call has its result before anything else');
    open = chatCalls(message).map((made) => made.id);
    if (role === 'system' && profile.systemInMiddle === 'fold') assert.equal(index, 0);
    if (profile.turnOrder === 'alternate') assert.notEqual(role, previous);
    if (profile.userAfterTool === 'bridge' && role === 'user') assert.notEqual(previous, 'tool');
    if (index === messages.length - 1) return;
  }
  assert.deepEqual(open, []);
}

function checkChatMessage(message: Body, profile: ChatProfile): void {
  const { role, content, ...rest } = message;
  const calls = chatCalls(message);
  for (const { id } of calls) assert.match(id, IDS[profile.toolIds]);
  if (content === null) assert.ok(calls.length > 0 && profile.contentBesideCalls === 'null');
  if (Array.isArray(content)) {
    assert.ok(content.length > 0, 'servers refuse an empty array');
    const types = content.map((part) => members(part)['type']);
    if (types.includes('thinking')) {
      assert.deepEqual([role, profile.reasoningField], ['assistant', 'parts']);
    } else {
      assert.notEqual(profile.contentParts, 'never');
      if (profile.contentParts === 'images') assert.ok(types.includes('image_url'));
    }
    for (const part of content) assert.notEqual(members(part)['text'], '', 'an empty part');
  } else if (profile.contentParts === 'always') {
    assert.ok(content === '' || content === null);
  }
  // Details that are lost are sent as their text.
  const { reasoningField } = profile;
  const fields =
    reasoningField === 'details' ? ['reasoning', 'reasoning_details'] : [reasoningField];
  const thinking = ['reasoning', 'reasoning_content', 'reasoning_details'].filter(
    (field) => field in rest,
  );
  for (const field of thinking) {
    assert.equal(role, 'assistant');
    assert.ok(fields.includes(field), `${field} is not the field of the profile`);
  }
}
