// Counts the tokens of an answer as it passes: for the money that it needs next, and for the endings
// in which no upstream tells, such as a client that leaves, a stream that breaks or no usage at all.

import { unreachable } from '../core/assert.ts';
import type { FinishReason, GenerationEvent, Usage, UsageReport } from '../core/generation.ts';
import { NO_USAGE } from '../core/usage.ts';

/** Text collected before it is counted: few calls, and no more than this is ever uncounted. */
const BATCH_CHARACTERS = 256;

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
    /** No fewer than `tokens` would be with `bytes` more: a token has at least one. Counts nothing. */
    atMost: (bytes: number): number => reasoning.atMost() + visible.atMost() + bytes,
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
  /** Of `rest` in UTF-8; a character that comes in two halves counts more. */
  let restBytes = 0;
  let counted = 0;
  const take = (end: number): void => {
    counted += countNow(rest.slice(0, end));
    rest = rest.slice(end);
    restBytes = Buffer.byteLength(rest);
  };
  const mark = () => ({ rest, restBytes, counted });
  return {
    add(text: string): void {
      rest += text;
      restBytes += Buffer.byteLength(text);
      if (rest.length >= BATCH_CHARACTERS) take(batchEnd(rest));
    },
    /** Counts all but the last word, so that the next question has little left to count. */
    settle(): void {
      const end = lastWordStart(rest);
      if (end > 0) take(end);
    },
    counted: (): number => counted,
    atMost: (): number => counted + restBytes,
    all: (): number => (rest === '' ? counted : counted + countNow(rest)),
    mark,
    reset(to: ReturnType<typeof mark>): void {
      ({ rest, restBytes, counted } = to);
    },
  };
}

/** Where tokens begin, so that nothing is counted twice; never inside a character. */
function batchEnd(text: string): number {
  const word = lastWordStart(text);
  const space = word > 0 ? word : text.lastIndexOf(' ');
  if (space > 0) return space;
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}

/**
 * The last space between two characters that are no white space, or -1. The vocabulary's expression
 * begins a word at each of them, whatever stands around: a text may be counted in parts there.
 */
function lastWordStart(text: string): number {
  let space = text.lastIndexOf(' ');
  while (space > 0 && !(isInk(text, space - 1) && isInk(text, space + 1))) {
    space = text.lastIndexOf(' ', space - 1);
  }
  return space;
}

function isInk(text: string, at: number): boolean {
  return INK.test(text.charAt(at));
}

const INK = /\S/;
