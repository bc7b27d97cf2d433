// The service tier or speed that an answer names, in both dialects, whole and streamed.

import { describe, expect, test } from 'bun:test';
import type { GenerationEvent, UsageReport } from '../../../src/core/generation.ts';
import { DEFAULT_PROFILE } from '../../../src/core/profile.ts';
import { readChatResponse } from '../../../src/wire/upstream/chat/response.ts';
import { createChatStream } from '../../../src/wire/upstream/chat/stream.ts';
import { createUsageReader } from '../../../src/wire/upstream/messages/usage.ts';
import { readServiceTier } from '../../../src/wire/upstream/service-tier.ts';

const COUNTS = { prompt_tokens: 10, completion_tokens: 5 };

function tierOf(usage: UsageReport | undefined): string | undefined {
  return usage === undefined || usage.basis === 'rejected' ? undefined : usage.serviceTier;
}

describe('a word', () => {
  test.each([
    ['priority', 'priority'],
    ['Fast', 'fast'],
    ['default', undefined],
    ['standard', undefined],
    ['on_demand', undefined],
    ['auto', undefined],
    ['', undefined],
    ['x', undefined],
    ['a tier with a name', undefined],
    ['a'.repeat(33), undefined],
    [2, undefined],
    [null, undefined],
  ])('%p is %p', (value, expected) => {
    expect(readServiceTier(value)).toBe(expected);
  });
});

describe('the chat dialect', () => {
  test('has it in a whole answer', () => {
    const answer = readChatResponse(
      JSON.stringify({
        choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
        ...{ usage: COUNTS, service_tier: 'priority' },
      }),
      DEFAULT_PROFILE.chat,
    );
    expect('usage' in answer && tierOf(answer.usage)).toBe('priority');
  });

  test('has it before the answer has come to its report', () => {
    const stream = createChatStream(() => undefined, DEFAULT_PROFILE.chat);
    const chunk = { choices: [{ index: 0, delta: { content: 'Hi' } }], service_tier: 'flex' };
    expect(stream.serviceTier()).toBeUndefined();
    stream.feed(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`));
    expect(stream.serviceTier()).toBe('flex');
    const last = JSON.stringify({ ...chunk, service_tier: 'default' });
    stream.feed(new TextEncoder().encode(`data: ${last}\n\n`));
    expect(stream.serviceTier()).toBeUndefined();
  });

  test('has it in the chunks of a stream; the last word counts', () => {
    const events: GenerationEvent[] = [];
    const stream = createChatStream((event) => void events.push(event), DEFAULT_PROFILE.chat);
    const chunks = [
      { choices: [{ index: 0, delta: { content: 'Hi' } }], service_tier: 'flex' },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], service_tier: 'default' },
      { choices: [], usage: COUNTS, service_tier: 'priority' },
    ];
    const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    stream.feed(new TextEncoder().encode(`${text}data: [DONE]\n\n`));
    stream.end();
    const usage = events.find((event) => event.kind === 'usage');
    expect(usage?.kind === 'usage' && tierOf(usage.usage)).toBe('priority');
  });
});

describe('the messages dialect', () => {
  test.each([
    [{ service_tier: 'priority' }, 'priority'],
    [{ service_tier: 'standard', speed: 'fast' }, 'fast'],
    [{ service_tier: 'standard', speed: 'standard' }, undefined],
  ])('has %j in its usage', (members, expected) => {
    const reader = createUsageReader();
    reader.readStart({ input_tokens: 1, ...members });
    reader.read({ output_tokens: 2 });
    expect(tierOf(reader.report()?.usage)).toBe(expected);
  });
});
