// Counts the tokens of an answer as it passes: for the money that it needs next, and for the endings
// in which no upstream tells, such as a client that leaves, a stream that breaks or no usage at all.

import { unreachable } from '../core/assert.ts';
import type { FinishReason, GenerationEvent, Usage, UsageReport } from '../core/generation.ts';

/** Text collected before it is counted: few calls, and no more than this is ever uncounted. */
const BATCH_CHARACTERS = 256;

/** A shorter text is counted again each time: where it is cut, tokens may be counted twice. */
const SETTLE_CHARACTERS = 64;

/** A token has at least one byte, and a UTF-16 unit at most three in UTF-8. */
const TOKENS_PER_CHARACTER_MAX = 3;

/** A state of the meter to go back to. */
type Mark = {
  readonly reasoning: string;
  readonly visible: string;
  readonly reasoningTokens: number;
  readonly visibleTokens: number;
  readonly output: MeteredOutput;
};

/** What has passed; `thinking` is nothing but thinking. */
export type MeteredOutput = 'none' | 'thinking' | 'answer';

export type OutputMeter = ReturnType<typeof createOutputMeter>;

export function createOutputMeter(countNow: (text: string) => number) {
  let reasoning = '';
  let visible = '';
  let reasoningTokens = 0;
  let visibleTokens = 0;
  let output: MeteredOutput = 'none';
  let finish: FinishReason | undefined;
  let usage: UsageReport | undefined;
  let raw: string | undefined;

  const addReasoning = (text: string): void => {
    if (text !== '' && output === 'none') output = 'thinking';
    reasoning += text;
    if (reasoning.length < BATCH_CHARACTERS) return;
    const end = batchEnd(reasoning);
    reasoningTokens += countNow(reasoning.slice(0, end));
    reasoning = reasoning.slice(end);
  };
  const addVisible = (text: string): void => {
    if (text !== '') output = 'answer';
    visible += text;
    if (visible.length < BATCH_CHARACTERS) return;
    const end = batchEnd(visible);
    visibleTokens += countNow(visible.slice(0, end));
    visible = visible.slice(end);
  };
  /** Counts what ends before a space, so that who asks again has little left to count. */
  const settle = (): void => {
    const thought = reasoning.lastIndexOf(' ');
    if (thought >= SETTLE_CHARACTERS) {
      reasoningTokens += countNow(reasoning.slice(0, thought));
      reasoning = reasoning.slice(thought);
    }
    const said = visible.lastIndexOf(' ');
    if (said >= SETTLE_CHARACTERS) {
      visibleTokens += countNow(visible.slice(0, said));
      visible = visible.slice(said);
    }
  };
  const allReasoning = (): number => reasoningTokens + countRest(reasoning, countNow);
  const allVisible = (): number => visibleTokens + countRest(visible, countNow);

  return {
    push(event: GenerationEvent): void {
      switch (event.kind) {
        case 'reasoning-delta':
          return addReasoning(event.text);
        case 'text-delta':
          return addVisible(event.text);
        case 'tool-start':
          output = 'answer';
          return addVisible(event.name);
        case 'tool-delta':
          return addVisible(event.json);
        case 'usage':
          usage = event.usage;
          raw = event.raw;
          return;
        case 'finish':
          finish = event.reason;
          return;
        default:
          unreachable(event);
      }
    },
    output: (): MeteredOutput => output,
    /** Why the upstream stopped; undefined while it has not. */
    finish: (): FinishReason | undefined => finish,
    /** Tokens that have been counted, behind what has passed by a batch at most. */
    counted: (): number => reasoningTokens + visibleTokens,
    /** Tokens of all that has passed. It counts what has not been counted. */
    tokens(): number {
      settle();
      return allReasoning() + allVisible();
    },
    /** No fewer than `tokens` would be with `characters` more; it counts nothing. */
    atMost(characters: number): number {
      const uncounted = reasoning.length + visible.length + characters;
      return reasoningTokens + visibleTokens + uncounted * TOKENS_PER_CHARACTER_MAX;
    },
    mark: (): Mark => ({ reasoning, visible, reasoningTokens, visibleTokens, output }),
    reset(mark: Mark): void {
      ({ reasoning, visible, reasoningTokens, visibleTokens, output } = mark);
    },
    /** The last usage that the upstream reported, if any. */
    reported: (): UsageReport | undefined => usage,
    /** That usage as the upstream wrote it, for the operator's records. */
    raw: (): string | undefined => raw,
    /** What has passed so far, as the usage of an answer with that prompt. */
    estimate(promptTokens: number): Usage {
      const thought = allReasoning();
      return {
        inputTokens: promptTokens,
        cachedInputTokens: 0,
        cacheWriteTokens: 0,
        outputTokens: thought + allVisible(),
        reasoningTokens: thought,
        basis: 'estimated',
      };
    },
  };
}

function countRest(text: string, countNow: (text: string) => number): number {
  return text === '' ? 0 : countNow(text);
}

/** Before a space, where tokens begin, so that little is counted twice; never inside a character. */
function batchEnd(text: string): number {
  const space = text.lastIndexOf(' ');
  if (space > 0) return space;
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}
