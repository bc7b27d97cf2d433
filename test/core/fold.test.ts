// Whole answers and streams are the same thing: folding the events of an answer gives it back.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { answerEvents, Fold } from '../../src/core/fold.ts';
import type { Answer, GenerationEvent, UsageReport } from '../../src/core/generation.ts';

const finish = fc.constantFrom<Answer['finish']>(
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'insufficient_system_resource',
);

const usage: fc.Arbitrary<UsageReport> = fc.oneof(
  fc.constant({ basis: 'rejected' as const, doubt: 'inconsistent' as const }),
  fc.record({
    inputTokens: fc.nat(),
    cachedInputTokens: fc.nat(),
    cacheWriteTokens: fc.nat(),
    outputTokens: fc.nat(),
    reasoningTokens: fc.nat(),
    basis: fc.constantFrom<'reported' | 'estimated'>('reported', 'estimated'),
  }),
);

const answers: fc.Arbitrary<Answer> = fc
  .record(
    {
      reasoning: fc.string(),
      text: fc.string({ unit: 'binary' }),
      toolCalls: fc.array(fc.record({ id: fc.string(), name: fc.string(), arguments: fc.json() }), {
        maxLength: 4,
      }),
      finish,
      reported: fc.record({ usage, rawUsage: fc.string() }, { requiredKeys: ['usage'] }),
    },
    { requiredKeys: ['reasoning', 'text', 'toolCalls', 'finish'] },
  )
  .map(({ reported = {}, ...answer }) => ({ ...answer, ...reported }));

function folded(events: readonly GenerationEvent[]): Answer {
  const fold = new Fold();
  for (const event of events) fold.push(event);
  return fold.answer();
}

test('the fold of the events of an answer is the answer', () => {
  fc.assert(
    fc.property(answers, (answer) => {
      expect(folded(answerEvents(answer))).toEqual(answer);
    }),
    { numRuns: 500 },
  );
});

test('finish is the last event, with the usage right before it', () => {
  fc.assert(
    fc.property(answers, (answer) => {
      const kinds = answerEvents(answer).map((event) => event.kind);
      expect(kinds.at(-1)).toBe('finish');
      if (answer.usage !== undefined) expect(kinds.at(-2)).toBe('usage');
    }),
  );
});

/** Cuts one delta in two at a place of the dice's choosing. */
function cut(event: GenerationEvent, at: number): GenerationEvent[] {
  switch (event.kind) {
    case 'text-delta':
    case 'reasoning-delta': {
      const place = at % (event.text.length + 1);
      return [
        { ...event, text: event.text.slice(0, place) },
        { ...event, text: event.text.slice(place) },
      ];
    }
    case 'tool-delta': {
      const place = at % (event.json.length + 1);
      return [
        { ...event, json: event.json.slice(0, place) },
        { ...event, json: event.json.slice(place) },
      ];
    }
    default:
      return [event];
  }
}

test('where deltas are cut does not matter', () => {
  fc.assert(
    fc.property(answers, fc.nat(1_000), (answer, at) => {
      expect(folded(answerEvents(answer).flatMap((event) => cut(event, at)))).toEqual(answer);
    }),
  );
});

test('what was folded does not change afterwards', () => {
  const fold = new Fold();
  fold.push({ kind: 'tool-start', index: 0, id: 'a', name: 'f' });
  const early = fold.answer();
  fold.push({ kind: 'tool-delta', index: 0, json: '{}' });
  expect(early.toolCalls).toEqual([{ id: 'a', name: 'f', arguments: '' }]);
  expect(fold.answer().toolCalls).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
});

test('thinking that was collected on the way stays with the end of the answer', () => {
  const thinking = [{ kind: 'thinking', text: 'Hm.', signature: 's' }] as const;
  const answer = folded([{ kind: 'finish', reason: 'stop', thinking }]);
  expect(answer.thinking).toEqual(thinking);
  expect(answerEvents(answer)).toEqual([{ kind: 'finish', reason: 'stop', thinking }]);
});

test('a piece of a call that never began is dropped', () => {
  expect(folded([{ kind: 'tool-delta', index: 3, json: '{}' }]).toolCalls).toEqual([]);
});
