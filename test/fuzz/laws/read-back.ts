// What we send to clients is what we read from upstreams: a gateway behind a gateway loses nothing.

import assert from 'node:assert/strict';
import { isFailure } from '../../../src/core/failure.ts';
import type { Answer, GenerationEvent } from '../../../src/core/generation.ts';
import { DEFAULT_PROFILE } from '../../../src/core/profile.ts';
import { chatFormat } from '../../../src/wire/chat/format.ts';
import type { ClientFormat } from '../../../src/wire/format.ts';
import { messagesFormat } from '../../../src/wire/messages/format.ts';
import { createArgumentEnd } from '../../../src/wire/upstream/chat/argument-end.ts';
import { chatDialect } from '../../../src/wire/upstream/chat/dialect.ts';
import { messagesDialect } from '../../../src/wire/upstream/messages/dialect.ts';
import { fold, parsed, solid } from '../checks/answer.ts';
import type { Shown } from '../checks/chat-stream.ts';
import { readMessagesStream } from '../checks/messages-stream.ts';
import { type Exchange, type SentExchange, sentExchange } from '../inputs/exchanges.ts';
import { inReads } from '../inputs/reads.ts';
import { toBytes } from '../inputs/recordings.ts';
import { property } from '../property.ts';

/** Text that has think tags is text to us: it is not split off twice. */
const CHAT = chatDialect({ ...DEFAULT_PROFILE.chat, thinkTags: 'ignore' });
const MESSAGES = messagesDialect(DEFAULT_PROFILE.messages);

/** Our own streams are streams that we can read: the same answer comes back. */
function readBack(dialect: typeof CHAT, stream: string, input: SentExchange): Answer {
  const events: GenerationEvent[] = [];
  const decoder = dialect.stream((event) => events.push(event));
  for (const read of inReads(toBytes(stream), input.lengths)) {
    assert.equal(decoder.feed(read), undefined);
  }
  assert.equal(decoder.end(), undefined);
  return fold(events);
}

function whole(format: ClientFormat, { events, head, receipt }: Exchange): string {
  const encoder = format.stream(head);
  return (
    encoder.start() + events.map((event) => encoder.push(event)).join('') + encoder.finish(receipt)
  );
}

/** An answer without content that says so is no answer to a decoder. */
function isExhausted({ events, head }: Exchange): boolean {
  const { finish, text, toolCalls, reasoning } = fold(events);
  if (finish !== 'insufficient_system_resource') return false;
  return text === '' && toolCalls.length === 0 && (reasoning === '' || !head.showReasoning);
}

function checkChatReadBack(input: SentExchange): void {
  const completed = { ...input, receipt: { ...input.receipt, outcome: 'completed' as const } };
  if (isExhausted(completed)) return;
  const { head, receipt } = completed;
  const sent = fold(input.events);
  const called = sent.toolCalls.length > 0;
  if (sent.toolCalls.some(hasSurplus)) return;
  const expected = {
    reasoning: head.showReasoning ? marks(sent.reasoning) : '',
    text: marks(sent.text),
    toolCalls: sent.toolCalls.map(givenArguments),
    finish: repaired(sent.finish, called),
  };
  const streamed = readBack(CHAT, whole(chatFormat, completed), completed);
  // This format does not tell how much of the prompt was written into a cache.
  const reported = { ...receipt.usage, cacheWriteTokens: 0, basis: 'reported' as const };
  const usage = { usage: reported };
  assert.deepEqual(given(streamed), { ...expected, ...(head.includeUsage ? usage : {}) });
  const answer = CHAT.response(chatFormat.response(head, sent, receipt));
  assert.ok(!isFailure(answer), 'our own answer can be read');
  assert.deepEqual(given(answer), { ...expected, ...usage });
}

/** What follows the object of a call's arguments is not read, so it does not come back. */
function hasSurplus(call: Answer['toolCalls'][number]): boolean {
  return (
    createArgumentEnd().push(call.arguments).json !== call.arguments && call.arguments !== '{}'
  );
}

function given({ rawUsage: _raw, leadingReasoning: _leading, ...answer }: Answer): Answer {
  return {
    ...answer,
    reasoning: marks(answer.reasoning),
    text: marks(answer.text),
    toolCalls: answer.toolCalls.map(givenArguments),
  };
}

/** Half a character is read as U+FFFD where its other half does not follow in the same block. */
function marks(text: string): string {
  return text.replace(/[\ud800-\udfff\ufffd]/g, '?');
}

/** Blank arguments are none, and none are an empty object. */
function givenArguments(call: Answer['toolCalls'][number]) {
  return { ...call, arguments: givenInput(call.arguments) };
}

/** White space around an input is not part of it, and halves of characters may be escapes in it. */
function givenInput(text: string): string {
  if (/^\s*(\{\s*\}\s*)?$/.test(text)) return '{}';
  return marks(text.trim()).replace(/\\u(?:d[89a-f][0-9a-f]{2}|fffd)/gi, '?');
}

function repaired(finish: Answer['finish'], called: boolean): Answer['finish'] {
  if (finish === 'stop' && called) return 'tool_calls';
  return finish === 'tool_calls' && !called ? 'stop' : finish;
}

function checkMessagesReadBack(input: SentExchange): void {
  const completed = { ...input, receipt: { ...input.receipt, outcome: 'completed' as const } };
  const { head, receipt } = completed;
  const stream = whole(messagesFormat, completed);
  const shown = readMessagesStream(stream, head, false);
  const streamed = readBack(MESSAGES, stream, completed);
  checkSame(streamed, shown);
  // This format does not tell how much of the output was thinking.
  const usage = { ...receipt.usage, reasoningTokens: 0, basis: 'reported' as const };
  assert.deepEqual(streamed.usage, usage);
  const sent = fold(input.events);
  const answer = MESSAGES.response(messagesFormat.response(head, sent, receipt));
  assert.ok(!isFailure(answer), 'our own answer can be read');
  const torn = sent.toolCalls.some((call) => parsed(call.arguments) === undefined);
  if (!torn) {
    const leading = sent.reasoning.slice(0, sent.leadingReasoning);
    const reasoning = head.showReasoning ? leading : '';
    checkSame(
      { ...answer, text: solid(answer.text) },
      { ...shown, reasoning, text: solid(shown.text) },
    );
  }
}

function checkSame(answer: Answer, shown: Shown): void {
  assert.equal(marks(answer.reasoning), marks(shown.reasoning));
  assert.equal(marks(answer.text), marks(shown.text));
  const ended = shown.calls.length > 0 ? 'tool_calls' : 'stop';
  assert.equal(answer.finish, shown.finish === 'max_tokens' ? 'length' : ended);
  assert.deepEqual(
    answer.toolCalls.map(({ id, name }) => ({ id, name })),
    shown.calls.map(({ id, name }) => ({ id, name })),
  );
  for (const [index, call] of answer.toolCalls.entries()) {
    assert.equal(givenInput(call.arguments), givenInput(shown.calls[index]?.input ?? ''));
  }
}

export const READ_BACK_PROPERTIES = [
  property('chat: what we send is what we read', sentExchange, checkChatReadBack),
  property('messages: what we send is what we read', sentExchange, checkMessagesReadBack),
];
