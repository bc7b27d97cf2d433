// Joins surrogate pairs that a server has split across the pieces of one text. Strict clients refuse
// an event with a lone surrogate, and others show replacement characters.

import { isHighSurrogate } from '../../core/surrogate.ts';

export class SurrogateJoiner {
  #half = '';

  /** The piece behind what was held. A half pair at its end waits for the next piece. */
  push(piece: string): string {
    if (this.#half === '' && piece.isWellFormed()) return piece;
    const text = this.#half + piece;
    this.#half = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.slice(-1) : '';
    return text.slice(0, text.length - this.#half.length).toWellFormed();
  }

  /** Nothing follows that completes the held half, so it becomes U+FFFD. */
  flush(): string {
    const rest = this.#half.toWellFormed();
    this.#half = '';
    return rest;
  }
}
