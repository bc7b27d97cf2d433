// Counts the tokens of an answer as it passes: for the money that it needs next, and for the endings
// in which no upstream tells, such as a client that leaves, a stream that breaks or no usage at all.

import { unreachable } from '../core/assert.ts';
import type { FinishReason, GenerationEvent, Usage, UsageReport } from '../core/generation.ts';

/** Text collected before it is counted: few calls, and no more than this is ever uncounted. */
const BATCH_CHARACTERS = 256;

/** What has passed; `thinking` is nothing but thinking. */
export type MeteredOutput = 'none' | 'thinking' | 'answer';

/** A state of the meter to go back to. */
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

  /** Why the upstream stopped; undefined while it has not. */
  finish(): FinishReason | undefined {
    return this.#finish;
  }

  /** Tokens that have been counted, behind what has passed by a batch at most. */
  counted(): number {
    return this.#reasoning.counted + this.#visible.counted;
  }

  /** Tokens of all that has passed. It counts what has not been counted. */
  tokens(): number {
    this.#reasoning.settle();
    this.#visible.settle();
    return this.#reasoning.all() + this.#visible.all();
  }

  /** No fewer than `tokens` would be with `bytes` more: a token has at least one. Counts nothing. */
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

  /** The last usage that the upstream reported, if any. */
  reported(): UsageReport | undefined {
    return this.#usage;
  }

  /** That usage as the upstream wrote it, for the operator's records. */
  raw(): string | undefined {
    return this.#raw;
  }

  /** What has passed so far, as the usage of an answer with that prompt. */
  estimate(promptTokens: number): Usage {
    const thought = this.#reasoning.all();
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

/** Counts a text as it grows, but for its end, which is counted again each time that it is asked for. */
class TextCount {
  counted = 0;
  #rest = '';
  /** Of `#rest` in UTF-8; a character that comes in two halves counts more. */
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

  /** Counts all but the last word, so that the next question has little left to count. */
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
