// Counts the tokens of an answer as it passes, for the endings in which no upstream tells: a client
// that leaves, a stream that breaks, an upstream that reports no usage.

import { unreachable } from '../core/assert.ts';
import type { GenerationEvent, Usage } from '../core/generation.ts';

/** Text collected before it is counted: few calls, and little lost at the seams. */
const BATCH_CHARACTERS = 1_024;

export type OutputMeter = {
  readonly push: (event: GenerationEvent) => void;
  /** Whether any content has passed. */
  readonly hasContent: () => boolean;
  /** What has passed so far, as the usage of an answer with that prompt. */
  readonly estimate: (promptTokens: number) => Usage;
  /** The last usage that the upstream reported, if any. */
  readonly reported: () => Usage | undefined;
};

export function createOutputMeter(countNow: (text: string) => number): OutputMeter {
  let reasoning = '';
  let visible = '';
  let reasoningTokens = 0;
  let visibleTokens = 0;
  let content = false;
  let usage: Usage | undefined;

  const addVisible = (text: string): void => {
    content = true;
    visible += text;
    if (visible.length < BATCH_CHARACTERS) return;
    visibleTokens += countNow(visible);
    visible = '';
  };

  return {
    push(event) {
      switch (event.kind) {
        case 'reasoning-delta':
          content = true;
          reasoning += event.text;
          if (reasoning.length < BATCH_CHARACTERS) return;
          reasoningTokens += countNow(reasoning);
          reasoning = '';
          return;
        case 'text-delta':
          return addVisible(event.text);
        case 'tool-start':
          return addVisible(event.name);
        case 'tool-delta':
          return addVisible(event.json);
        case 'usage':
          usage = event.usage;
          return;
        case 'finish':
          return;
        default:
          unreachable(event);
      }
    },
    hasContent: () => content,
    reported: () => usage,
    estimate(promptTokens) {
      if (reasoning !== '') reasoningTokens += countNow(reasoning);
      if (visible !== '') visibleTokens += countNow(visible);
      reasoning = '';
      visible = '';
      return {
        inputTokens: promptTokens,
        cachedInputTokens: 0,
        cacheWriteTokens: 0,
        outputTokens: reasoningTokens + visibleTokens,
        reasoningTokens,
        basis: 'estimated',
      };
    },
  };
}
