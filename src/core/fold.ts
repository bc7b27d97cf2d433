// Converts between events and whole answers, so that a client gets the same answer whether its
// upstream streamed or not.

import { unreachable } from './assert.ts';
import type { Citation } from './citation.ts';
import type {
  Answer,
  FinishReason,
  GenerationEvent,
  ThinkingBlock,
  UnknownWord,
  UsageReport,
} from './generation.ts';

type Call = { readonly id: string; readonly name: string; arguments: string };

/** Shared by all answers without calls; never modified. */
const NO_CALLS: Call[] = [];

type Writable<T> = { -readonly [Member in keyof T]: T[Member] };

/**
 * Folds events into a whole answer as they arrive. `answer()` may be called at any time. Without a
 * finish event it reports `stop`, so call it only after the decoder has reported a complete stream.
 */
export class Fold {
  #reasoning = '';
  #leadingReasoning: number | undefined;
  #text = '';
  /** White space alone is none. */
  #hasText = false;
  #finish: FinishReason = 'stop';
  #usage: UsageReport | undefined;
  #rawUsage: string | undefined;
  #thinking: readonly ThinkingBlock[] | undefined;
  #unknown: UnknownWord | undefined;
  #calls = NO_CALLS;
  #annotations: Citation[] | undefined;

  push(event: GenerationEvent): void {
    switch (event.kind) {
      case 'reasoning-delta':
        if (this.#hasText) this.#leadingReasoning ??= this.#reasoning.length;
        this.#reasoning += event.text;
        return;
      case 'text-delta':
        this.#hasText ||= /\S/.test(event.text);
        this.#text += event.text;
        return;
      case 'tool-start':
        if (this.#calls === NO_CALLS) this.#calls = [];
        this.#calls[event.index] = { id: event.id, name: event.name, arguments: '' };
        return;
      case 'tool-delta': {
        const call = this.#calls[event.index];
        if (call !== undefined) call.arguments += event.json;
        return;
      }
      case 'annotation':
        this.#annotations ??= [];
        this.#annotations.push(event.citation);
        return;
      case 'usage':
        this.#usage = event.usage;
        this.#rawUsage = event.raw;
        return;
      case 'finish':
        this.#finish = event.reason;
        this.#thinking = event.thinking;
        this.#unknown = event.unknown;
        return;
      default:
        unreachable(event);
    }
  }

  answer(): Answer {
    const answer: Writable<Answer> = {
      reasoning: this.#reasoning,
      text: this.#text,
      // A call that has begun may still grow.
      toolCalls: this.#calls.map((call) => ({ ...call })),
      finish: this.#finish,
    };
    if (this.#leadingReasoning !== undefined) answer.leadingReasoning = this.#leadingReasoning;
    if (this.#annotations !== undefined) answer.annotations = this.#annotations;
    if (this.#usage !== undefined) answer.usage = this.#usage;
    if (this.#rawUsage !== undefined) answer.rawUsage = this.#rawUsage;
    if (this.#thinking !== undefined) answer.thinking = this.#thinking;
    if (this.#unknown !== undefined) answer.unknown = this.#unknown;
    return answer;
  }
}

/** The events that a whole answer would have streamed. */
export function answerEvents(answer: Answer): GenerationEvent[] {
  const events: GenerationEvent[] = [];
  const leading = answer.reasoning.slice(0, answer.leadingReasoning);
  const late = answer.reasoning.slice(leading.length);
  if (leading !== '') events.push({ kind: 'reasoning-delta', text: leading });
  if (answer.text !== '') events.push({ kind: 'text-delta', text: answer.text });
  for (const citation of answer.annotations ?? []) events.push({ kind: 'annotation', citation });
  if (late !== '') events.push({ kind: 'reasoning-delta', text: late });
  let index = 0;
  for (const call of answer.toolCalls) {
    events.push({ kind: 'tool-start', index, id: call.id, name: call.name });
    if (call.arguments !== '') events.push({ kind: 'tool-delta', index, json: call.arguments });
    index += 1;
  }
  const { usage, rawUsage: raw, finish: reason, thinking, unknown } = answer;
  if (usage !== undefined) {
    events.push(raw === undefined ? { kind: 'usage', usage } : { kind: 'usage', usage, raw });
  }
  events.push({
    kind: 'finish',
    reason,
    ...(thinking && { thinking }),
    ...(unknown && { unknown }),
  });
  return events;
}
