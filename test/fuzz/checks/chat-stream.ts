// The grammar of a chat-completions stream, as the strictest published clients demand it. Reads a
// whole stream and fails at the first thing that is out of place; gives what a client would have.

import assert from 'node:assert/strict';
import type { Outcome } from '../../../src/core/generation.ts';
import type { AnswerHead } from '../../../src/wire/format.ts';
import { type Json, type JsonMembers, members } from './json.ts';

/** An answer as a client of either format has it after its last byte. */
export type Shown = {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  /** The format's own word for why the answer ended; absent where an error ended it. */
  readonly finish: string | undefined;
  readonly outcome: Outcome | undefined;
};

function text(value: Json | undefined): string {
  assert.equal(typeof value, 'string');
  return value as string;
}

const ENDING = '\n\ndata: [DONE]\n\n';

/** `failed` where the stream was ended by `fail`. */
export function readChatStream(stream: string, head: AnswerHead, failed: boolean): Shown {
  assert.ok(stream.endsWith(ENDING), 'the stream ends with [DONE] and a blank line');
  const records = stream.slice(0, -ENDING.length).split('\n\n');
  const events = records.map((record) => {
    assert.match(record, /^data: \{[^\r\n]*\}$/, 'one data line a record, and no other line');
    return members(JSON.parse(record.slice(6)) as Json);
  });
  const last = events.pop();
  if (failed) return { ...readChunks(events, head), ...readError(members(last), head) };
  const finish = members(events.pop());
  const { delta, finish_reason: reason } = readChoice(finish, head);
  assert.deepEqual(delta, {}, 'the finish chunk says nothing else');
  const outcome = readBill(members(last), head);
  return { ...readChunks(events, head), finish: text(reason), outcome };
}

function readChunks(events: readonly JsonMembers[], head: AnswerHead) {
  const shown = { reasoning: '', text: '' };
  const calls: { id: string; name: string; input: string }[] = [];
  for (const [position, event] of events.entries()) {
    const { delta, finish_reason: reason } = readChoice(event, head);
    assert.equal(reason, null, 'one finish reason, and nothing behind it but the bill');
    const said = members(delta);
    if (position === 0) {
      assert.deepEqual(said, { role: 'assistant', content: '' }, 'the role comes first');
      continue;
    }
    const [key, ...others] = Object.keys(said);
    assert.deepEqual(others, [], 'one thing a delta');
    if (key === 'content') shown.text += text(said['content']);
    else if (key === 'reasoning_content') shown.reasoning += text(said['reasoning_content']);
    else if (key !== undefined) readCalls(said['tool_calls'], calls);
  }
  return { ...shown, calls };
}

function readCalls(value: Json | undefined, calls: { id: string; name: string; input: string }[]) {
  assert.ok(Array.isArray(value) && value.length === 1, 'one piece of a call a delta');
  const { index, function: called, ...start } = members(value[0]);
  const { name, arguments: piece, ...others } = members(called);
  assert.deepEqual(others, {});
  const call = calls[Number(index)];
  if (call === undefined) {
    assert.equal(index, calls.length, 'calls are numbered from 0 without gaps');
    assert.deepEqual(Object.keys(start), ['id', 'type']);
    assert.equal(start['type'], 'function');
    calls.push({ id: text(start['id']), name: text(name), input: text(piece) });
    return;
  }
  assert.deepEqual([start, name], [{}, undefined], 'id, type and name come once a call');
  call.input += text(piece);
}

function readChoice(event: JsonMembers, head: AnswerHead): JsonMembers {
  const { choices, ...envelope } = event;
  assert.deepEqual(envelope, {
    id: `chatcmpl-${head.id}`,
    object: 'chat.completion.chunk',
    created: head.createdSeconds,
    model: head.model,
    system_fingerprint: 'fp_tollgate',
  });
  assert.ok(Array.isArray(choices) && choices.length === 1);
  const { index, logprobs, ...choice } = members(choices[0]);
  assert.deepEqual([index, logprobs], [0, null]);
  assert.deepEqual(Object.keys(choice), ['delta', 'finish_reason']);
  return choice;
}

/** The last event: usage and bill at once, or the bill alone. */
function readBill(event: JsonMembers, head: AnswerHead): Outcome {
  const { usage, ...bill } = event;
  assert.equal(usage !== undefined, head.includeUsage);
  assert.equal(
    bill['object'],
    head.includeUsage ? 'chat.completion.chunk' : 'chat.completion.billing',
  );
  assert.deepEqual(
    [bill['id'], bill['created'], bill['model'], bill['choices']],
    [`chatcmpl-${head.id}`, head.createdSeconds, head.model, []],
  );
  for (const key of ['svc_tokens_debited', 'svc_cost_usd', 'svc_balance_tokens']) text(bill[key]);
  assert.equal(typeof bill['svc_fallback_used'], 'boolean');
  if (usage !== undefined) readUsage(members(usage));
  return text(bill['svc_outcome']) as Outcome;
}

function readUsage(usage: JsonMembers): void {
  const { svc_tokens_debited: debited, svc_cost_usd: cost, ...counts } = usage;
  text(debited);
  text(cost);
  const [prompt, completion] = [
    Number(counts['prompt_tokens']),
    Number(counts['completion_tokens']),
  ];
  const cached = Number(counts['prompt_cache_hit_tokens']);
  const reasoning = Number(members(counts['completion_tokens_details'])['reasoning_tokens']);
  assert.deepEqual(counts, {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
    prompt_cache_hit_tokens: cached,
    prompt_cache_miss_tokens: prompt - cached,
  });
  assert.ok(cached <= prompt && reasoning <= completion);
}

function readError(event: JsonMembers, head: AnswerHead) {
  assert.deepEqual(Object.keys(event), ['error'], 'an error stands alone');
  const error = members(event['error']);
  for (const key of ['message', 'type', 'code']) text(error[key]);
  assert.equal(error['request_id'], head.requestId);
  return { finish: undefined, outcome: error['svc_outcome'] as Outcome | undefined };
}
