// Joins surrogate pairs that a server has split across chunks of text or thinking. Strict clients
// refuse an event with a lone surrogate, and others show replacement characters.

import type { DeltaSink, PlainDelta } from './delta.ts';

export class CharacterJoiner implements DeltaSink {
  readonly #sink: DeltaSink;
  #half = '';
  #kind: PlainDelta['kind'] = 'text-delta';

  constructor(sink: DeltaSink) {
    this.#sink = sink;
  }

  push(delta: PlainDelta): void {
    if (this.#half === '' && delta.text.isWellFormed()) {
      if (delta.text !== '') this.#sink.push(delta);
      return;
    }
    if (delta.kind !== this.#kind) this.flush();
    this.#kind = delta.kind;
    const text = this.#half + delta.text;
    this.#half = isFirstHalf(text.charCodeAt(text.length - 1)) ? text.slice(-1) : '';
    this.#pass(this.#half === '' ? text : text.slice(0, -1));
  }

  /** Nothing follows that completes the held half, so it becomes U+FFFD. */
  flush(): void {
    this.#pass(this.#half);
    this.#half = '';
  }

  #pass(text: string): void {
    if (text !== '') this.#sink.push({ kind: this.#kind, text: text.toWellFormed() });
  }
}

function isFirstHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
