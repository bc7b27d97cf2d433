// OpenRouter's chat completions, with a model of Anthropic behind it.
//
// Thinking comes as `reasoning` and as reasoning_details, which must return unchanged: a detail that is
// not as it was given is refused, as the vendor behind it would. A stream delivers a detail in pieces with
// one index. Refuses more than four stop sequences and efforts outside of its words. Reports the cost.
// From: @openrouter/sdk 1.3.19 (28 November 2026), openrouter.ai/docs on reasoning tokens.

import { chatVendor, stopsOf, usual } from './chat.ts';
import type { ChatBody, ChatTurn, Detail } from './chat-body.ts';
import { fresh, pieces } from './script.ts';
import { type Json, Refusal } from './server.ts';
import type { ThinkingForm } from './thinking-forms.ts';

function refuse(message: string, code = 400): Refusal {
  return new Refusal(code, { error: { message, code, metadata: { provider_name: 'Anthropic' } } });
}

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refuse('No auth credentials found', 401),
  402: () => refuse('Insufficient credits', 402),
  429: () => refuse('Rate limit exceeded', 429),
  500: () => refuse('Internal Server Error', 500),
  long: () => refuse("This endpoint's maximum context length is 1000000 tokens."),
};

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

type Reasoning = {
  readonly effort?: string;
  readonly enabled?: boolean;
  readonly exclude?: boolean;
};

const reasoningOf = (body: ChatBody): Reasoning => (body['reasoning'] ?? {}) as Reasoning;

const thinks = (body: ChatBody): boolean => {
  const { effort, enabled } = reasoningOf(body);
  return enabled !== false && effort !== 'none';
};

/** The signature of each thought that was given out. */
const given = new Map<string, string>();

function detailOf(thought: string): Detail {
  const signature = given.get(thought) ?? fresh('sig');
  given.set(thought, signature);
  const format = 'anthropic-claude-v1';
  return { type: 'reasoning.text', text: thought, signature, format, index: 0 };
}

/** The details of a turn, the pieces of each put together. */
function joined({ reasoning_details: details = [] }: ChatTurn): Detail[] {
  const byIndex = Map.groupBy(details, (detail) => detail['index']);
  return [...byIndex.values()].map((parts) => {
    const merged: Detail = Object.assign({ type: '' }, ...parts);
    return { ...merged, text: parts.map((part) => part.text ?? '').join('') };
  });
}

function check(body: ChatBody): void {
  const { effort } = reasoningOf(body);
  if (effort !== undefined && !EFFORTS.includes(effort)) {
    throw refuse(`reasoning.effort: Invalid option ${effort}`);
  }
  if (stopsOf(body).length > 4) throw refuse('stop: at most 4 sequences');
  for (const detail of body.messages.flatMap(joined)) {
    const { format, index } = detailOf(detail.text ?? '');
    const isSame = given.get(detail.text ?? '') === detail['signature'];
    if (isSame && detail['format'] === format && detail['index'] === index) continue;
    throw refuse('messages: Invalid `signature` in `thinking` block');
  }
}

const DETAILS: ThinkingForm = {
  whole: (thought) => ({ reasoning: thought, reasoning_details: [detailOf(thought)] }),
  deltas: (thought): Json[] => {
    const { text: _text, signature, ...rest } = detailOf(thought);
    const deltas: Json[] = pieces(thought).map((text) => {
      return { reasoning: text, reasoning_details: [{ ...rest, text }] };
    });
    return [...deltas, { reasoning_details: [{ ...rest, text: '', signature }] }];
  },
  returned: (turn) => joined(turn).map((detail) => detail.text ?? ''),
};

/** The vendor. */
export const openrouter = chatVendor({
  unknownPath: () => refuse('Not Found', 404),
  faults: FAULTS,
  check,
  thinks,
  thinking: DETAILS,
  usage: (counts) => ({ ...usual(counts), cost: 0.0042, is_byok: false }),
  usageUnasked: true,
});
