// Joins surrogate pairs that a server has split across chunks of text or thinking.

import { SurrogateJoiner } from '../surrogates.ts';
import type { DeltaSink, PlainDelta } from './delta.ts';

export class CharacterJoiner implements DeltaSink {
  readonly #sink: DeltaSink;
  readonly #pairs = new SurrogateJoiner();
  #kind: PlainDelta['kind'] = 'text-delta';

  constructor(sink: DeltaSink) {
    this.#sink = sink;
  }

  push(delta: PlainDelta): void {
    if (delta.kind !== this.#kind) this.flush();
    this.#kind = delta.kind;
    const text = this.#pairs.push(delta.text);
    if (text === delta.text && text !== '') this.#sink.push(delta);
    else this.#pass(text);
  }

  /** Nothing follows in this kind. */
  flush(): void {
    this.#pass(this.#pairs.flush());
  }

  #pass(text: string): void {
    if (text !== '') this.#sink.push({ kind: this.#kind, text });
  }
}
