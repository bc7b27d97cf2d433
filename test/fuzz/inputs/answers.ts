// Answers as decoders may send them, and what an answer's envelope and its bill say.

import fc from 'fast-check';
import type { GenerationEvent, Receipt, Usage } from '../../../src/core/generation.ts';
import type { AnswerHead } from '../../../src/wire/format.ts';
import { jsonObjectText, jsonText } from './json-text.ts';
import { anyText, solidText, wholeText } from './text.ts';

const count = fc.integer({ min: 0, max: 1_000 });

export const usage: fc.Arbitrary<Usage> = fc
  .record({ input: count, cached: count, written: count, output: count, reasoning: count })
  .map(({ input, cached, written, output, reasoning }) => ({
    inputTokens: input,
    cachedInputTokens: Math.min(input, cached),
    cacheWriteTokens: Math.min(input - Math.min(input, cached), written),
    outputTokens: output,
    reasoningTokens: Math.min(output, reasoning),
    basis: 'reported',
  }));

/** Arguments of a call: mostly an object, and what models write in place of one. */
const callArguments = fc.oneof(
  { weight: 4, arbitrary: jsonObjectText },
  { weight: 1, arbitrary: jsonObjectText.map((text) => text.slice(0, text.length / 2)) },
  { weight: 1, arbitrary: jsonObjectText.map((text) => JSON.stringify(text)) },
  { weight: 1, arbitrary: jsonText },
  { weight: 1, arbitrary: anyText },
);

type Step =
  | { readonly kind: 'reasoning' | 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly parts: readonly string[] }
  /** Sends the next part of the call that this number picks. */
  | { readonly kind: 'part'; readonly pick: number }
  /** Cites a range of the text that has come. */
  | { readonly kind: 'citation'; readonly from: number; readonly length: number };

const parts = fc
  .tuple(callArguments, fc.array(fc.nat({ max: 12 }), { maxLength: 4 }))
  .map(([text, lengths]) => {
    const pieces: string[] = [];
    let from = 0;
    for (const length of lengths) {
      pieces.push(text.slice(from, from + length));
      from += length;
    }
    return [...pieces, text.slice(from)];
  });

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('reasoning' as const, 'text' as const), text: anyText }),
  fc.record({ kind: fc.constant('call' as const), name: solidText, parts }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('part' as const), pick: fc.nat(8) }) },
  fc.record({ kind: fc.constant('citation' as const), from: fc.nat(20), length: fc.nat(20) }),
);

const callId = fc.oneof(
  fc.constantFrom('call_', 'toolu_', 'toolu_x', 'functions.f:', 'é', '"', ' '),
  wholeText.filter((text) => text.length <= 200),
);

/**
 * A whole answer as a decoder may send it, usage and finish included. Parts of calls come in any
 * order; what was not sent before the end is sent then.
 */
export const answerSequence: fc.Arbitrary<GenerationEvent[]> = fc
  .record({
    steps: fc.array(step, { maxLength: 16 }),
    id: callId,
    usage: fc.option(usage, { nil: undefined }),
    reason: fc.constantFrom(
      'stop' as const,
      'length' as const,
      'tool_calls' as const,
      'content_filter' as const,
      'insufficient_system_resource' as const,
    ),
  })
  .map(({ steps, id, usage, reason }) => {
    const events: GenerationEvent[] = [];
    const unsent: string[][] = [];
    let textLength = 0;
    const send = (index: number): void => {
      const json = unsent[index]?.shift();
      if (json !== undefined) events.push({ kind: 'tool-delta', index, json });
    };
    for (const step of steps) {
      if (step.kind === 'reasoning') events.push({ kind: 'reasoning-delta', text: step.text });
      if (step.kind === 'text') events.push({ kind: 'text-delta', text: step.text });
      if (step.kind === 'text') textLength += step.text.length;
      if (step.kind === 'citation' && textLength > 0) {
        const start = step.from % (textLength + 1);
        const end = start + (step.length % (textLength - start + 1));
        const url = `https://example.com/${events.length}`;
        events.push({ kind: 'annotation', citation: { start, end, url, title: 'é"\\' } });
      }
      if (step.kind === 'part') send(step.pick % Math.max(1, unsent.length));
      if (step.kind === 'call') {
        const index = unsent.push([...step.parts]) - 1;
        events.push({ kind: 'tool-start', index, id: `${id}${index}`, name: step.name });
      }
    }
    for (const [index, left] of unsent.entries()) while (left.length > 0) send(index);
    if (usage !== undefined) events.push({ kind: 'usage', usage });
    events.push({ kind: 'finish', reason });
    return events;
  });

export const head: fc.Arbitrary<AnswerHead> = fc.record({
  id: fc.stringMatching(/^[A-Za-z0-9]{24}$/),
  requestId: fc.stringMatching(/^req_[0-9a-f]{32}$/),
  model: fc.constantFrom('swift-1', 'a"b', 'é\\'),
  createdSeconds: fc.constantFrom(0, 1_700_000_000),
  includeUsage: fc.boolean(),
  showReasoning: fc.boolean(),
});

export const receipt: fc.Arbitrary<Receipt> = fc.record({
  modelServed: fc.constantFrom('swift-1', 'swift-0'),
  fallbackUsed: fc.boolean(),
  usage,
  tokensDebited: fc.constantFrom('0', '12.5', '123456789.000001'),
  costUsd: fc.constantFrom('0', '0.0000125'),
  balanceTokens: fc.constantFrom('0', '987.5'),
  outcome: fc.constantFrom('completed' as const, 'stopped_balance' as const),
});
