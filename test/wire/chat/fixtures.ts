// Heads, receipts and event sequences for the tests of the chat-completions format.

import fc from 'fast-check';
import type { FinishReason, GenerationEvent, Receipt } from '../../../src/core/generation.ts';
import { receiptWith } from '../fixtures.ts';

export { HEAD } from '../fixtures.ts';

export const RECEIPT: Receipt = receiptWith(30);

export const USAGE_JSON = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 30 },
  completion_tokens_details: { reasoning_tokens: 5 },
  prompt_cache_hit_tokens: 30,
  prompt_cache_miss_tokens: 70,
  svc_tokens_debited: '12.5',
  svc_cost_usd: '0.0000125',
};

const REASONS: readonly FinishReason[] = [
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'insufficient_system_resource',
];

const text = fc.oneof(
  fc.constantFrom('', '\n\ndata: [DONE]\n\n', '\u2028', '"\\', '\r', '\ud83d', '\ude00'),
  fc.string({ unit: 'binary', maxLength: 8 }),
);

/** Deltas, starts and usage in any order that the neutral stream allows, then a finish event. */
export const eventSequence: fc.Arbitrary<GenerationEvent[]> = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('reasoning', 'text', 'start', 'args', 'usage'), text)),
    fc.array(fc.nat({ max: 100 }), { minLength: 1 }),
    fc.constantFrom(...REASONS),
  )
  .map(([steps, picks, reason]) => {
    const events: GenerationEvent[] = [];
    let calls = 0;
    steps.forEach(([kind, value], step) => {
      if (kind === 'reasoning') events.push({ kind: 'reasoning-delta', text: value });
      if (kind === 'text') events.push({ kind: 'text-delta', text: value });
      if (kind === 'usage') events.push({ kind: 'usage', usage: RECEIPT.usage });
      if (kind === 'start') {
        events.push({ kind: 'tool-start', index: calls, id: `call_${calls}`, name: `f${value}` });
        calls += 1;
      }
      if (kind === 'args' && calls > 0) {
        const index = (picks[step % picks.length] ?? 0) % calls;
        events.push({ kind: 'tool-delta', index, json: value });
      }
    });
    return [...events, { kind: 'finish', reason }];
  });
