// Counts an answer's tokens as it passes, to decide when more balance is needed and to charge
// answers without a usage report: disconnects, broken streams, or upstreams that send none.

import { unreachable } from '../core/assert.ts';
import type { FinishReason, GenerationEvent, Usage, UsageReport } from '../core/generation.ts';
import { isHighSurrogate } from '../core/surrogate.ts';

/**
 * Characters collected before they are counted. It bounds both the number of calls and the
 * uncounted text.
 */
const BATCH_CHARACTERS = 256;

/** What has passed; `thinking` means nothing but thinking. */
export type MeteredOutput = 'none' | 'thinking' | 'answer';

/** A state that the meter can be reset to. */
export type MeterMark = {
  readonly reasoning: CountMark;
  readonly visible: CountMark;
  readonly output: MeteredOutput;
};

type CountNow = (text: string) => number;

export class OutputMeter {
  readonly #reasoning: TextCount;
  readonly #visible: TextCount;
  #output: MeteredOutput = 'none';
  #finish: FinishReason | undefined;
  #usage: UsageReport | undefined;
  #raw: string | undefined;

  constructor(countNow: CountNow) {
    this.#reasoning = new TextCount(countNow);
    this.#visible = new TextCount(countNow);
  }

  push(event: GenerationEvent): void {
    switch (event.kind) {
      case 'reasoning-delta':
        if (event.text !== '' && this.#output === 'none') this.#output = 'thinking';
        this.#reasoning.add(event.text);
        return;
      case 'text-delta':
        this.#addVisible(event.text);
        return;
      case 'tool-start':
        this.#output = 'answer';
        this.#addVisible(event.name);
        return;
      case 'tool-delta':
        this.#addVisible(event.json);
        return;
      case 'usage':
        this.#usage = event.usage;
        this.#raw = event.raw;
        return;
      case 'finish':
        this.#finish = event.reason;
        return;
      case 'annotation':
        return;
      default:
        unreachable(event);
    }
  }

  #addVisible(text: string): void {
    if (text !== '') this.#output = 'answer';
    this.#visible.add(text);
  }

  output(): MeteredOutput {
    return this.#output;
  }

  /** The upstream's finish reason; undefined until it finishes. */
  finish(): FinishReason | undefined {
    return this.#finish;
  }

  /** Tokens counted so far. It lags behind what has passed by at most one batch. */
  counted(): number {
    return this.#reasoning.counted + this.#visible.counted;
  }

  /** Tokens of everything that has passed. Counts the pending text first. */
  tokens(): number {
    this.#reasoning.settle();
    this.#visible.settle();
    return this.#reasoning.all() + this.#visible.all();
  }

  /**
   * An upper bound of `tokens` after `bytes` more, since every token has at least one byte. Counts
   * nothing.
   */
  atMost(bytes: number): number {
    return this.#reasoning.atMost() + this.#visible.atMost() + bytes;
  }

  mark(): MeterMark {
    return {
      reasoning: this.#reasoning.mark(),
      visible: this.#visible.mark(),
      output: this.#output,
    };
  }

  reset(to: MeterMark): void {
    this.#reasoning.reset(to.reasoning);
    this.#visible.reset(to.visible);
    this.#output = to.output;
  }

  /** The upstream's last usage report, if any. */
  reported(): UsageReport | undefined {
    return this.#usage;
  }

  /** That report as the upstream wrote it, for the operator's records. */
  raw(): string | undefined {
    return this.#raw;
  }

  /**
   * Our own count of what has passed, as the usage of an answer to that prompt; on demand without
   * thinking, for a client that does not receive it.
   */
  estimate(promptTokens: number, withReasoning = true): Usage {
    const thought = withReasoning ? this.#reasoning.all() : 0;
    return {
      inputTokens: promptTokens,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: thought + this.#visible.all(),
      reasoningTokens: thought,
      basis: 'estimated',
    };
  }
}

type CountMark = { readonly rest: string; readonly restBytes: number; readonly counted: number };

/** Counts a growing text. Only the end of it is counted again at each call. */
class TextCount {
  counted = 0;
  #rest = '';
  /** UTF-8 bytes of `#rest`. A surrogate pair that arrives in two halves is counted too high. */
  #restBytes = 0;
  readonly #countNow: CountNow;

  constructor(countNow: CountNow) {
    this.#countNow = countNow;
  }

  add(text: string): void {
    this.#rest += text;
    this.#restBytes += Buffer.byteLength(text);
    if (this.#rest.length >= BATCH_CHARACTERS) this.#take(batchEnd(this.#rest));
  }

  /** Counts everything but the last word, so that the next call has little to count. */
  settle(): void {
    const end = lastWordStart(this.#rest);
    if (end > 0) this.#take(end);
  }

  atMost(): number {
    return this.counted + this.#restBytes;
  }

  all(): number {
    return this.#rest === '' ? this.counted : this.counted + this.#countNow(this.#rest);
  }

  mark(): CountMark {
    return { rest: this.#rest, restBytes: this.#restBytes, counted: this.counted };
  }

  reset({ rest, restBytes, counted }: CountMark): void {
    this.#rest = rest;
    this.#restBytes = restBytes;
    this.counted = counted;
  }

  #take(end: number): void {
    this.counted += this.#countNow(this.#rest.slice(0, end));
    this.#rest = this.#rest.slice(end);
    this.#restBytes = Buffer.byteLength(this.#rest);
  }
}

/** Where to split a batch: at a token boundary if possible, and never inside a character. */
function batchEnd(text: string): number {
  const word = lastWordStart(text);
  const space = word > 0 ? word : text.lastIndexOf(' ');
  if (space > 0) return space;
  return isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;
}

/**
 * The last space between two non-space characters, or -1. The vocabulary's regular expression
 * always starts a word there, so a text can be counted in parts at that position.
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
