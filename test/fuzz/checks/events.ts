// The check that events are what a decoder may send. The contract is in src/core/generation.ts and
// src/wire/format.ts.

import assert from 'node:assert/strict';
import type { Citation } from '../../../src/core/citation.ts';
import type {
  Answer,
  FinishReason,
  GenerationEvent,
  ThinkingBlock,
  UsageReport,
} from '../../../src/core/generation.ts';
import { LEFT_OUT } from '../../../src/wire/upstream/limits.ts';

/** The largest count that an upstream may report (src/wire/upstream/limits.ts). */
const COUNT_MAX = 1_000_000_000;

const REASONS: readonly FinishReason[] = [
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'insufficient_system_resource',
];

/** Fails unless a decoder may have sent these; `ended` where it said that the answer was whole. */
export function checkEvents(events: readonly GenerationEvent[], ended: boolean): void {
  const ids = new Set<string>();
  let textLength = 0;
  for (const [position, event] of events.entries()) {
    const last = events.length - 1;
    switch (event.kind) {
      case 'reasoning-delta':
      case 'text-delta':
        assert.equal(typeof event.text, 'string');
        assert.notEqual(event.text, '', 'a delta without text');
        if (event.kind === 'text-delta') textLength += event.text.length;
        break;
      case 'tool-start':
        assert.equal(event.index, ids.size, 'tool calls are numbered without gaps');
        assert.ok(event.id !== '' && !ids.has(event.id), 'every call has an id of its own');
        assert.notEqual(event.name, '', 'every call has a name');
        ids.add(event.id);
        break;
      case 'tool-delta':
        assert.ok(
          event.index === LEFT_OUT || (event.index >= 0 && event.index < ids.size),
          'no delta before its call',
        );
        assert.equal(typeof event.json, 'string');
        break;
      case 'annotation':
        checkCitation(event.citation, textLength);
        break;
      case 'usage':
        checkUsage(event.usage);
        checkRaw(event.raw);
        assert.equal(position, last - 1, 'usage is right before the finish');
        break;
      case 'finish':
        assert.equal(position, last, 'the finish is last');
        assert.ok(REASONS.includes(event.reason));
        assert.ok(ended, 'an answer with a finish does not fail behind it');
        break;
    }
  }
  if (ended) assert.equal(events.at(-1)?.kind, 'finish', 'an answer that is whole has a finish');
}

/** Half of a character may wait for its other half. */
function checkCitation({ start, end, url, title }: Citation, textLength: number): void {
  assert.ok(start >= 0 && start <= end && end <= textLength + 1, 'a range is in the text');
  assert.match(url, /^https?:/i);
  assert.ok(url.isWellFormed() && title.isWellFormed());
}

export function checkUsage(usage: UsageReport): void {
  if (usage.basis === 'rejected') {
    assert.ok(['malformed', 'inconsistent'].includes(usage.doubt));
    return;
  }
  assert.ok(!('doubt' in usage), 'a decoder does not doubt what it believes');
  const { inputTokens, cachedInputTokens, cacheWriteTokens } = usage;
  const { outputTokens, reasoningTokens } = usage;
  const prompt = [inputTokens, cachedInputTokens, cacheWriteTokens];
  for (const count of [...prompt, outputTokens, reasoningTokens]) {
    assert.ok(Number.isInteger(count) && !Object.is(count, -0), 'a count is an integer');
    assert.ok(count >= 0 && count <= COUNT_MAX * 3, 'a count has bounds');
  }
  assert.ok(cachedInputTokens + cacheWriteTokens <= inputTokens);
  assert.ok(reasoningTokens <= outputTokens);
  assert.equal(usage.basis, 'reported');
}

const RAW_SHAPE = /^\{(?:[{},:]|"[A-Za-z][A-Za-z0-9_]*"|-?\d+(?:\.\d+)?(?:e[+-]\d+)?)*\}$/;

/** Numbers and their keys, and nothing else of what the upstream wrote. */
function checkRaw(raw: string | undefined): void {
  assert.ok(raw !== undefined && raw.length <= 1_024, 'what was reported is kept, with a bound');
  assert.match(raw, RAW_SHAPE);
  assert.doesNotThrow(() => JSON.parse(raw));
}

export function checkAnswer(answer: Answer): void {
  const ids = new Set(answer.toolCalls.map((call) => call.id));
  assert.equal(ids.size, answer.toolCalls.length, 'every call has an id of its own');
  assert.ok(!ids.has(''));
  for (const call of answer.toolCalls) {
    assert.notEqual(call.name, '');
    assert.equal(typeof call.arguments, 'string');
  }
  assert.equal(typeof answer.text, 'string');
  assert.equal(typeof answer.reasoning, 'string');
  assert.ok(REASONS.includes(answer.finish));
  if (answer.usage !== undefined) {
    checkUsage(answer.usage);
    checkRaw(answer.rawUsage);
  }
}

/** What these events show, names and thinking of the upstream's own included, in UTF-16 units. */
export function shownLength(events: readonly GenerationEvent[]): number {
  return events.reduce((sum, event) => sum + eventLength(event), 0);
}

function eventLength(event: GenerationEvent): number {
  switch (event.kind) {
    case 'reasoning-delta':
    case 'text-delta':
      return event.text.length;
    case 'tool-start':
      return event.id.length + event.name.length;
    case 'tool-delta':
      return event.json.length;
    case 'annotation':
    case 'usage':
      return 0;
    case 'finish':
      return (event.thinking ?? []).reduce((sum, block) => sum + blockLength(block), 0);
  }
}

function blockLength(block: ThinkingBlock): number {
  switch (block.kind) {
    case 'thinking':
      return block.text.length + block.signature.length;
    case 'redacted':
      return block.data.length;
    case 'native':
      return block.json.length;
    case 'text':
      return block.phase?.length ?? 0;
    case 'call':
      return block.signature?.length ?? 0;
  }
}
