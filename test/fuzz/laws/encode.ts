// What clients of both formats receive: any answer, streamed with heartbeats or whole, cut by the
// balance or by a failure. The checks verify the grammar; these laws verify the final result.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ErrorCode, GatewayError } from '../../../src/core/error.ts';
import type { GenerationEvent } from '../../../src/core/generation.ts';
import { chatFormat } from '../../../src/wire/chat/format.ts';
import type { AnswerHead, ClientFormat } from '../../../src/wire/format.ts';
import { messagesFormat } from '../../../src/wire/messages/format.ts';
import { fold, isObject, parsed, solid } from '../checks/answer.ts';
import { readChatStream } from '../checks/chat-stream.ts';
import { type Json, members } from '../checks/json.ts';
import { readMessagesStream } from '../checks/messages-stream.ts';
import { head } from '../inputs/answers.ts';
import { type Exchange, error, exchange } from '../inputs/exchanges.ts';
import { property } from '../property.ts';

/** What was pushed, and the whole text that came of it. */
function encode(
  format: ClientFormat,
  input: Exchange,
): { pushed: GenerationEvent[]; text: string } {
  const { events, head, receipt, silences, stoppedAfter } = input;
  const stopped = input.error !== undefined || receipt.outcome === 'stopped_balance';
  const pushed = stopped ? events.slice(0, stoppedAfter) : events;
  const encoder = format.stream(head);
  let text = encoder.start();
  for (const [position, event] of pushed.entries()) {
    if (silences.includes(position)) text += encoder.heartbeat();
    text += encoder.push(event);
  }
  if (input.error === undefined) return { pushed, text: text + encoder.finish(receipt) };
  const { code, ...detail } = input.error;
  return { pushed, text: text + encoder.fail(new GatewayError(code, detail), receipt) };
}

function checkChatStream(input: Exchange): void {
  const { pushed, text } = encode(chatFormat, input);
  const failed = input.error !== undefined;
  const answer = fold(pushed);
  const { outcome } = input.receipt;
  assert.deepEqual(readChatStream(text, input.head, failed), {
    reasoning: input.head.showReasoning ? answer.reasoning : '',
    text: answer.text,
    calls: answer.toolCalls.map(({ id, name, arguments: input }) => ({
      id,
      name,
      input: input === '' && !failed ? '{}' : input,
    })),
    finish: failed ? undefined : outcome === 'stopped_balance' ? 'length' : answer.finish,
    outcome,
  });
}

function checkMessagesStream(input: Exchange): void {
  const { pushed, text } = encode(messagesFormat, input);
  const failed = input.error !== undefined;
  const answer = fold(pushed);
  const shown = readMessagesStream(text, input.head, failed);
  assert.equal(shown.outcome, input.receipt.outcome);
  const leading = answer.reasoning.slice(0, answer.leadingReasoning);
  const thought = input.head.showReasoning ? solid(leading) : '';
  if (failed) {
    // What waits for its turn when the stream breaks is never shown.
    assert.ok(thought.startsWith(solid(shown.reasoning)));
    assert.ok(solid(answer.text).startsWith(solid(shown.text)));
    assert.ok(shown.calls.length <= answer.toolCalls.length);
    return;
  }
  assert.equal(solid(shown.reasoning), thought, 'thinking before the text is shown');
  if (answer.toolCalls.length === 0) assert.equal(shown.text, answer.text);
  assert.equal(solid(shown.text), solid(answer.text), 'text in is text out, but for blank ends');
  assert.deepEqual(
    shown.calls.map(({ name }) => name),
    answer.toolCalls.map(({ name }) => name),
  );
  for (const [index, call] of answer.toolCalls.entries()) {
    const input = shown.calls[index]?.input ?? '';
    const value = parsed(call.arguments);
    if (isObject(value)) assert.equal(input, call.arguments, 'arguments stay as they were written');
    // An object that was begun and torn has been sent already; anything else is repaired.
    if (value !== undefined || !/^\s*\{/.test(call.arguments)) assert.ok(isObject(parsed(input)));
  }
  if (shown.finish === 'tool_use') assert.ok(shown.calls.length > 0);
}

function checkChatWhole({ events, head, receipt }: Exchange): void {
  const answer = fold(events);
  const body = members(JSON.parse(chatFormat.response(head, answer, receipt)) as Json);
  const [choice] = body['choices'] as readonly Json[];
  const { message, finish_reason: finish } = members(choice);
  const { content, reasoning_content: reasoning = '', tool_calls: calls = [] } = members(message);
  const whole = {
    reasoning,
    text: content ?? '',
    calls: (calls as readonly Json[]).map((value) => {
      const { id, function: called } = members(value);
      const { name, arguments: input } = members(called);
      return { id, name, input };
    }),
    finish,
    outcome: receipt.outcome,
  };
  const stream = chatFormat.stream(head);
  const text =
    stream.start() + events.map((event) => stream.push(event)).join('') + stream.finish(receipt);
  assert.deepEqual(whole, readChatStream(text, head, false));
  assert.equal(content === null, answer.text === '' && answer.toolCalls.length > 0);
}

function checkMessagesWhole({ events, head, receipt }: Exchange): void {
  const answer = fold(events);
  const text = messagesFormat.response(head, answer, receipt);
  const body = members(JSON.parse(text) as Json);
  const blocks = (body['content'] as readonly Json[]).map(members);
  const kinds = blocks.map((block) => block['type']).join(' ');
  assert.match(kinds, /^(thinking)?( ?text)?( ?tool_use)*$/);
  const encoder = messagesFormat.stream(head);
  const stream =
    encoder.start() + events.map((event) => encoder.push(event)).join('') + encoder.finish(receipt);
  const shown = readMessagesStream(stream, head, false);
  // What follows a whole object has no place in a stream, and makes a whole answer's input empty.
  const isGarbled = answer.toolCalls.some((call) => parsed(call.arguments) === undefined);
  if (!isGarbled) assert.equal(body['stop_reason'], shown.finish);
  const find = (type: string) => blocks.filter((block) => block['type'] === type);
  const [thinking = {}] = find('thinking');
  const leading = answer.reasoning.slice(0, answer.leadingReasoning);
  assert.equal(thinking['thinking'] ?? '', head.showReasoning ? leading : '');
  assert.ok(Object.keys(thinking).length === 0 || thinking['signature'] !== '');
  assert.equal(solid(String(find('text')[0]?.['text'] ?? '')), solid(shown.text));
  for (const [index, block] of find('tool_use').entries()) {
    const call = shown.calls[index];
    assert.deepEqual([block['id'], block['name']], [call?.id, call?.name]);
    assert.ok(isObject(block['input']));
    const given = answer.toolCalls[index]?.arguments ?? '';
    // Half of a character is repaired in a whole answer, which a strict client reads as one text.
    if (!isObject(parsed(given)) || /\\ud[89a-f]/i.test(given)) continue;
    assert.ok(text.includes(`"input":${given}`), 'arguments stay as they were written');
    assert.deepEqual(block['input'], parsed(call?.input ?? ''));
  }
}

function checkErrors(input: {
  readonly head: AnswerHead;
  readonly error: { readonly code: ErrorCode; readonly message?: string; readonly param?: string };
}): void {
  const { code, ...detail } = input.error;
  const failure = new GatewayError(code, detail);
  const { requestId } = input.head;
  const said = { message: failure.message, code, request_id: requestId };
  const param = failure.param === undefined ? {} : { param: failure.param };
  assert.deepEqual(JSON.parse(chatFormat.error(failure, requestId)), {
    error: { ...said, type: failure.chatType, ...param },
  });
  assert.deepEqual(JSON.parse(messagesFormat.error(failure, requestId)), {
    type: 'error',
    error: { ...said, type: failure.messagesType, ...param },
  });
}

export const ENCODER_PROPERTIES = [
  property(
    'chat: any answer is a stream of the grammar, with all that it said',
    exchange,
    checkChatStream,
  ),
  property(
    'messages: any answer is a stream of the grammar, with all that it said',
    exchange,
    checkMessagesStream,
  ),
  property('chat: a whole answer says what its stream says', exchange, checkChatWhole),
  property('messages: a whole answer says what its stream says', exchange, checkMessagesWhole),
  property('errors: any words make an envelope', fc.record({ head, error }), checkErrors),
];
