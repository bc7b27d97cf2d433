// Decoders on arbitrary upstream bytes under any profile. They never throw, emit only what the
// contract allows, give the same result for any split of the bytes, and never take a truncated
// answer for a whole one.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type FailureClass, isFailure, type UpstreamFailure } from '../../../src/core/failure.ts';
import type { GenerationEvent } from '../../../src/core/generation.ts';
import { DEFAULT_PROFILE } from '../../../src/core/profile.ts';
import type { UpstreamDialect } from '../../../src/wire/format.ts';
import { chatDialect } from '../../../src/wire/upstream/chat/dialect.ts';
import { createChatStream } from '../../../src/wire/upstream/chat/stream.ts';
import type { FrameLane } from '../../../src/wire/upstream/frame.ts';
import {
  createResponsesStream,
  responsesDialect,
} from '../../../src/wire/upstream/responses/dialect.ts';
import { isObject, parsed } from '../checks/answer.ts';
import { checkAnswer, checkEvents, shownLength } from '../checks/events.ts';
import { jsonText } from '../inputs/json-text.ts';
import { codecOf, type ProfileChoice, profileChoice, profileOf } from '../inputs/profiles.ts';
import { inReads, readLengths } from '../inputs/reads.ts';
import { bodyText, streamBytes } from '../inputs/streams.ts';
import { SECRET } from '../inputs/text.ts';
import { property } from '../property.ts';
import { readByTheStandard } from './sse.ts';

const CLASSES: readonly FailureClass[] = [
  'rate_limited',
  'overloaded',
  'credential',
  'server_error',
  'mismatch',
  'bad_request',
  'context_length',
  'content_policy',
  'too_large',
  'malformed',
  'cut',
  'timeout',
];

type Decoded = {
  readonly events: GenerationEvent[];
  readonly failure: UpstreamFailure | undefined;
};

function decode(dialect: Pick<UpstreamDialect, 'stream'>, reads: readonly Uint8Array[]): Decoded {
  const events: GenerationEvent[] = [];
  const decoder = dialect.stream((event) => events.push(event));
  let failure: UpstreamFailure | undefined;
  for (const read of reads) failure ??= decoder.feed(read);
  failure ??= decoder.end();
  const said = events.length;
  decoder.feed(Buffer.from('data: {"choices":[{"delta":{"content":"more"}}]}\n\n'));
  decoder.end();
  assert.equal(events.length, said, 'nothing follows the end');
  return { events, failure };
}

function checkFailure(failure: UpstreamFailure): void {
  assert.ok(CLASSES.includes(failure.class), `${failure.class} is no class of an answer`);
  assert.ok(!failure.detail.includes(SECRET), 'a failure has no word of the upstream');
  assert.match(failure.detail, /^[ -~]{1,200}$/);
}

type Stream = { readonly profile: ProfileChoice; readonly bytes: Uint8Array };

function checkStream({
  profile,
  bytes,
  lengths,
}: Stream & { readonly lengths: readonly number[] }): void {
  const dialect = codecOf(profileOf(profile));
  const decoded = decode(dialect, [bytes]);
  const { events, failure } = decoded;
  checkEvents(events, failure === undefined);
  if (failure !== undefined) checkFailure(failure);
  assert.ok(shownLength(events) <= 8 * bytes.length + 64, 'no more comes out than went in');
  assert.ok(events.length <= bytes.length);
  assert.deepEqual(decode(dialect, inReads(bytes, lengths)), decoded, 'any split gives the same');
}

/** Whether some event of the stream says why the answer ended, or is a whole answer. */
function hasFinish(bytes: Uint8Array): boolean {
  const unlimited = { lineBytes: Infinity, eventLength: Infinity, streamBytes: Infinity };
  const { records } = readByTheStandard(bytes, unlimited);
  // The lines of an event may be events of their own, where a server parts them by line ends alone.
  const texts = records.flatMap(([data]) => [data, ...data.split('\n')]);
  const values = texts.map((text) => parsed(text.trim()));
  if (records.some(([, event]) => FINAL_EVENT.test(event))) return true;
  return values.some((value) => saysFinish(value) || isWholeMessage(value) || isFinalEvent(value));
}

/** Of the Responses dialect. */
const FINAL_EVENT = /^response\.(?:completed|incomplete|cancelled)$/;

function isFinalEvent(value: unknown): boolean {
  return isObject(value) && 'type' in value && FINAL_EVENT.test(String(value.type));
}

function isWholeMessage(value: unknown): boolean {
  return isObject(value) && 'content' in value && Array.isArray(value.content);
}

function saysFinish(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, member]) => {
    if (key !== 'finish_reason' && key !== 'stop_reason') return saysFinish(member);
    return typeof member === 'string' && member !== '';
  });
}

function checkFinish({ profile, bytes }: Stream): void {
  if (hasFinish(bytes)) return;
  const { failure } = decode(codecOf(profileOf(profile)), [bytes]);
  assert.notEqual(failure, undefined, 'an answer without its end is not whole');
}

const PARSER_ONLY: FrameLane<never> = { match: () => undefined, learn: () => {} };

function checkLane(bytes: Uint8Array): void {
  const { chat } = DEFAULT_PROFILE;
  const slow = decode(
    { stream: (onEvent) => createChatStream(onEvent, chat, undefined, PARSER_ONLY) },
    [bytes],
  );
  assert.deepEqual(decode(chatDialect(chat), [bytes]), slow);
}

function checkResponsesLane(bytes: Uint8Array): void {
  const { responses } = DEFAULT_PROFILE;
  const slow = decode(
    { stream: (onEvent) => createResponsesStream(onEvent, responses, undefined, PARSER_ONLY) },
    [bytes],
  );
  assert.deepEqual(decode(responsesDialect(responses), [bytes]), slow);
}

function checkBody({
  profile,
  text,
}: {
  readonly profile: ProfileChoice;
  readonly text: string;
}): void {
  const answer = codecOf(profileOf(profile)).response(text);
  if (isFailure(answer)) {
    checkFailure(answer);
    return;
  }
  checkAnswer(answer);
  const called = answer.toolCalls.map(({ id, name, arguments: given }) => id + name + given);
  const shown = [answer.reasoning, answer.text, ...called].join('');
  assert.ok(shown.length <= 8 * text.length + 64, 'no more comes out than went in');
}

const refusal = fc.record({
  profile: profileChoice,
  status: fc.integer({ min: 300, max: 599 }),
  body: fc.oneof(bodyText, jsonText, fc.constant(`{"error":{"message":"${SECRET}"}}`)),
});

export const DECODER_PROPERTIES = [
  property(
    'upstream: any stream gives events of the contract, however split',
    fc.record({ profile: profileChoice, bytes: streamBytes, lengths: readLengths }),
    checkStream,
  ),
  property(
    'upstream: a stream without its finish is never a success',
    fc.record({ profile: profileChoice, bytes: streamBytes }),
    checkFinish,
  ),
  property('upstream: the fast lane gives what the parser gives', streamBytes, checkLane),
  property(
    'upstream: the fast lane of Responses gives what the parser gives',
    streamBytes,
    checkResponsesLane,
  ),
  property(
    'upstream: any body gives an answer of the contract or a failure',
    fc.record({ profile: profileChoice, text: bodyText }),
    checkBody,
  ),
  property('upstream: any refusal gives a failure', refusal, ({ profile, status, body }) => {
    const failure = codecOf(profileOf(profile)).failure(status, body);
    checkFailure(failure);
    assert.equal(failure.status, status);
  }),
];
