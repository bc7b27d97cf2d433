// A whole answer out of events, and events out of a whole answer: what a client gets must not depend
// on how its upstream sent it. Called where the one form has to become the other.

import { unreachable } from './assert.ts';
import type {
  Answer,
  FinishReason,
  GenerationEvent,
  ThinkingBlock,
  UsageReport,
} from './generation.ts';

/**
 * Folds events into a whole answer as they come. `answer()` may be asked for at any time; an
 * answer without a finish event reads as stopped, so ask only after a decoder has said that the
 * stream ended well.
 */
export function createFold(): {
  readonly push: (event: GenerationEvent) => void;
  readonly answer: () => Answer;
} {
  let reasoning = '';
  let text = '';
  let finish: FinishReason = 'stop';
  let usage: UsageReport | undefined;
  let rawUsage: string | undefined;
  let thinking: readonly ThinkingBlock[] | undefined;
  const calls: { id: string; name: string; arguments: string }[] = [];
  return {
    push(event) {
      switch (event.kind) {
        case 'reasoning-delta':
          reasoning += event.text;
          return;
        case 'text-delta':
          text += event.text;
          return;
        case 'tool-start':
          calls[event.index] = { id: event.id, name: event.name, arguments: '' };
          return;
        case 'tool-delta': {
          const call = calls[event.index];
          if (call !== undefined) call.arguments += event.json;
          return;
        }
        case 'usage':
          usage = event.usage;
          rawUsage = event.raw;
          return;
        case 'finish':
          finish = event.reason;
          thinking = event.thinking;
          return;
        default:
          unreachable(event);
      }
    },
    answer() {
      return {
        reasoning,
        text,
        toolCalls: calls.map((call) => ({ ...call })),
        finish,
        ...(usage === undefined ? {} : { usage }),
        ...(rawUsage === undefined ? {} : { rawUsage }),
        ...(thinking === undefined ? {} : { thinking }),
      };
    },
  };
}

/** The events that an answer that arrived whole would have streamed. */
export function answerEvents(answer: Answer): GenerationEvent[] {
  const events: GenerationEvent[] = [];
  if (answer.reasoning !== '') events.push({ kind: 'reasoning-delta', text: answer.reasoning });
  if (answer.text !== '') events.push({ kind: 'text-delta', text: answer.text });
  answer.toolCalls.forEach((call, index) => {
    events.push({ kind: 'tool-start', index, id: call.id, name: call.name });
    if (call.arguments !== '') events.push({ kind: 'tool-delta', index, json: call.arguments });
  });
  const { usage, rawUsage: raw } = answer;
  if (usage !== undefined)
    events.push({ kind: 'usage', usage, ...(raw === undefined ? {} : { raw }) });
  const { finish: reason, thinking } = answer;
  events.push({ kind: 'finish', reason, ...(thinking === undefined ? {} : { thinking }) });
  return events;
}
