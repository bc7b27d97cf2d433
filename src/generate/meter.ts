// Counts the tokens of an answer as it passes: for the money that it needs next, and for the endings
// in which no upstream tells, such as a client that leaves, a stream that breaks or no usage at all.

import { unreachable } from '../core/assert.ts';
import type { FinishReason, GenerationEvent, Usage, UsageReport } from '../core/generation.ts';
import { NO_USAGE } from '../core/usage.ts';

/** Text collected before it is counted: few calls, and no more than this is ever uncounted. */
const BATCH_CHARACTERS = 256;

/** A shorter text is counted again each time: where it is cut, tokens may be counted twice. */
const SETTLE_CHARACTERS = 64;

/** A token has at least one byte, and a UTF-16 unit at most three in UTF-8. */
const TOKENS_PER_CHARACTER_MAX = 3;

/** What has passed; `thinking` is nothing but thinking. */
export type MeteredOutput = 'none' | 'thinking' | 'answer';

export type OutputMeter = ReturnType<typeof createOutputMeter>;

export function createOutputMeter(countNow: (text: string) => number) {
  const reasoning = createTextCount(countNow);
  const visible = createTextCount(countNow);
  let output: MeteredOutput = 'none';
  let finish: FinishReason | undefined;
  let usage: UsageReport | undefined;
  let raw: string | undefined;

  const addVisible = (text: string): void => {
    if (text !== '') output = 'answer';
    visible.add(text);
  };
  const mark = () => ({ reasoning: reasoning.mark(), visible: visible.mark(), output });

  return {
    push(event: GenerationEvent) {
      switch (event.kind) {
        case 'reasoning-delta':
          if (event.text !== '' && output === 'none') output = 'thinking';
          return reasoning.add(event.text);
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
    counted: (): number => reasoning.counted() + visible.counted(),
    /** Tokens of all that has passed. It counts what has not been counted. */
    tokens(): number {
      reasoning.settle();
      visible.settle();
      return reasoning.all() + visible.all();
    },
    /** No fewer than `tokens` would be with `characters` more; it counts nothing. */
    atMost(characters: number): number {
      const uncounted = reasoning.uncounted() + visible.uncounted() + characters;
      return reasoning.counted() + visible.counted() + uncounted * TOKENS_PER_CHARACTER_MAX;
    },
    /** A state of the meter to go back to. */
    mark,
    reset(to: ReturnType<typeof mark>): void {
      reasoning.reset(to.reasoning);
      visible.reset(to.visible);
      output = to.output;
    },
    /** The last usage that the upstream reported, if any. */
    reported: (): UsageReport | undefined => usage,
    /** That usage as the upstream wrote it, for the operator's records. */
    raw: (): string | undefined => raw,
    /** What has passed so far, as the usage of an answer with that prompt. */
    estimate(promptTokens: number): Usage {
      const thought = reasoning.all();
      return {
        ...NO_USAGE,
        inputTokens: promptTokens,
        outputTokens: thought + visible.all(),
        reasoningTokens: thought,
        basis: 'estimated',
      };
    },
  };
}

/** Counts a text as it grows, but for its end, which is counted again each time that it is asked for. */
function createTextCount(countNow: (text: string) => number) {
  let rest = '';
  let counted = 0;
  const take = (end: number): void => {
    counted += countNow(rest.slice(0, end));
    rest = rest.slice(end);
  };
  const mark = () => ({ rest, counted });
  return {
    add(text: string): void {
      rest += text;
      if (rest.length >= BATCH_CHARACTERS) take(batchEnd(rest));
    },
    /** Counts what ends before a space, so that who asks again has little left to count. */
    settle(): void {
      const space = rest.lastIndexOf(' ');
      if (space >= SETTLE_CHARACTERS) take(space);
    },
    counted: (): number => counted,
    uncounted: (): number => rest.length,
    all: (): number => (rest === '' ? counted : counted + countNow(rest)),
    mark,
    reset(to: ReturnType<typeof mark>): void {
      ({ rest, counted } = to);
    },
  };
}

/** Before a space, where tokens begin, so that little is counted twice; never inside a character. */
function batchEnd(text: string): number {
  const space = text.lastIndexOf(' ');
  if (space > 0) return space;
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}
