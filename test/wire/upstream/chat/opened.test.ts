// A template that opens the thinking block applies only to requests with thinking. Otherwise the
// answer of a model that does not think would be parsed as thinking to its end.

import { expect, test } from 'bun:test';
import { isFailure } from '../../../../src/core/failure.ts';
import { Fold } from '../../../../src/core/fold.ts';
import type { GenerationRequest } from '../../../../src/core/generation.ts';
import { type ChatProfile, DEFAULT_PROFILE } from '../../../../src/core/profile.ts';
import type { UpstreamCall } from '../../../../src/wire/format.ts';
import { chatDialect } from '../../../../src/wire/upstream/chat/dialect.ts';
import { CALL, REQUEST } from './request-support.ts';

const OPENED: ChatProfile = { ...DEFAULT_PROFILE.chat, thinkTags: 'opened' };

/** What is read of a content as thinking and as text; an answer whole and one streamed agree. */
function read(
  profile: ChatProfile,
  request: Partial<GenerationRequest>,
  call: Partial<UpstreamCall>,
  content: string,
): [reasoning: string, text: string] {
  const dialect = chatDialect(profile);
  dialect.request({ ...REQUEST, ...request }, { ...CALL, ...call });
  const body = JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }] });
  const whole = dialect.response(body);
  if (isFailure(whole)) throw new Error(whole.detail);
  const fold = new Fold();
  const stream = dialect.stream((event) => fold.push(event));
  const chunk = { choices: [{ delta: { content }, finish_reason: 'stop' }] };
  stream.feed(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`));
  expect(stream.end()).toBeUndefined();
  expect(fold.answer()).toEqual(whole);
  return [whole.reasoning, whole.text];
}

test('case 105: a text is open from the start only where the model is to think', () => {
  const content = 'a</think>b';
  for (const reasoning of ['on', 'low', undefined] as const) {
    const request = reasoning === undefined ? {} : { reasoning };
    expect(read(OPENED, request, {}, content)).toEqual(['a', 'b']);
  }
  expect(read(OPENED, { reasoning: 'off' }, {}, content)).toEqual(['', content]);
  expect(read(OPENED, {}, { reasons: false }, content)).toEqual(['', content]);
});

test('case 105: it is not open where something else has turned the thinking off', () => {
  const profile: ChatProfile = { ...OPENED, thinkingWithTools: 'off' };
  const tools = [{ name: 'f', parameters: { type: 'object' } }];
  expect(read(profile, { reasoning: 'high' }, {}, 'a</think>b')).toEqual(['a', 'b']);
  expect(read(profile, { reasoning: 'high', tools }, {}, 'So')).toEqual(['', 'So']);
});

test('case 105: a model that is not to think may still show that it did', () => {
  expect(read(OPENED, { reasoning: 'off' }, {}, '<think>\n\n</think>\n\nSo')).toEqual(['', 'So']);
});
