// What holds of a request that was written for a Responses upstream, by its profile.

import assert from 'node:assert/strict';
import type { GenerationRequest } from '../../../src/core/generation.ts';
import type { ResponsesProfile } from '../../../src/core/responses-profile.ts';
import type { UpstreamCall } from '../../../src/wire/format.ts';
import { toolInput } from '../../../src/wire/tool-input.ts';
import { type JsonMembers as Body, type Json, members } from './json.ts';
import { IDS } from './written.ts';

export function checkResponses(
  body: Body,
  request: GenerationRequest,
  call: UpstreamCall,
  profile: ResponsesProfile,
): void {
  const bound = Math.max(call.maxOutputTokens, profile.minOutputTokens);
  assert.equal(body['max_output_tokens'], bound);
  assert.equal(body['store'], profile.store === 'send' ? false : undefined);
  assert.equal(body['stream'], call.stream ? true : undefined);
  const isPlain = call.stream && profile.obfuscation === 'off';
  assert.deepEqual(body['stream_options'], isPlain ? { include_obfuscation: false } : undefined);
  if (!call.reasons) assert.deepEqual([body['reasoning'], body['include']], [undefined, undefined]);
  if (profile.sampling === 'omit') assert.equal(body['temperature'], undefined);
  if (body['tools'] === undefined) assert.equal(body['tool_choice'], undefined);
  for (const tool of ((body['tools'] ?? []) as readonly Json[]).map(members)) {
    if (tool['type'] === 'custom') {
      assert.equal(profile.customTools, 'send');
      continue;
    }
    const { type, properties } = members(tool['parameters']);
    assert.deepEqual([tool['type'], tool['strict'], type], ['function', false, 'object']);
    assert.notEqual(properties, undefined, 'an object schema needs properties');
  }
  const items = (body['input'] as readonly Json[]).map(members);
  assert.ok(items.length > 0, 'an empty input is refused');
  const { format } = members(body['text'] ?? {});
  if (request.json && (format === undefined || members(format)['type'] === 'json_object')) {
    assert.match(JSON.stringify(items), /json/i, 'JSON mode needs the word in the input');
  }
  checkItems(items, profile);
  const written = items.flatMap((item) =>
    item['type'] === 'function_call' ? item['arguments'] : [],
  );
  const given = request.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.toolCalls : []));
  const inputs = given.map((made) => toolInput(made.arguments));
  const hasText = items.some((item) => item['type'] === 'custom_tool_call');
  if (!hasText) assert.deepEqual(written, inputs, 'an object of arguments stays as it was');
}

function checkItems(items: readonly Body[], profile: ResponsesProfile): void {
  const made: string[] = [];
  const answered: string[] = [];
  for (const [at, item] of items.entries()) {
    const { type, role, content, call_id: id } = item;
    const next = items[at + 1];
    switch (type) {
      case 'message':
        assert.ok(Array.isArray(content) && content.length > 0, 'a message has content');
        if (role === 'developer' && at > 0) assert.equal(profile.systemInMiddle, 'keep');
        assert.equal('phase' in item, role === 'assistant' && profile.phases === 'send');
        break;
      case 'reasoning':
        assert.notEqual(profile.reasoningHistory, 'none');
        assert.ok(
          next?.['role'] === 'assistant' ||
            /^(?:reasoning|function_call|custom_tool_call)$/.test(String(next?.['type'])),
        );
        break;
      case 'custom_tool_call':
        assert.equal(profile.customTools, 'send');
        assert.equal(typeof item['input'], 'string');
        made.push(String(id));
        break;
      case 'function_call':
        assert.match(String(id), IDS[profile.toolIds]);
        made.push(String(id));
        break;
      case 'custom_tool_call_output':
      case 'function_call_output':
        assert.ok(made.includes(String(id)), 'a result stands behind its call');
        answered.push(String(id));
        break;
      default:
        assert.fail(`${String(type)} is no item`);
    }
  }
  assert.deepEqual(answered.toSorted(), made.toSorted(), 'each call has one result');
  if (profile.toolIds !== 'nine') assert.equal(new Set(made).size, made.length);
}
