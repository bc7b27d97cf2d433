// Characters that a server has cut in two. Called by the chunk reader with every piece of text and of
// thinking. Servers that cut their strings between the halves of a character send each half in a
// chunk of its own; strict clients refuse an event with half a character, others show two marks.

import type { PlainDelta } from './delta.ts';

export function createCharacterJoiner(onDelta: (delta: PlainDelta) => void) {
  let half = '';
  let kind: PlainDelta['kind'] = 'text-delta';

  /** Nothing that follows belongs to what is held: half a character becomes U+FFFD. */
  function flush(): void {
    if (half !== '') onDelta({ kind, text: half.toWellFormed() });
    half = '';
  }

  return {
    push(delta: PlainDelta): void {
      if (half === '' && delta.text.isWellFormed()) {
        if (delta.text !== '') onDelta(delta);
        return;
      }
      if (delta.kind !== kind) flush();
      kind = delta.kind;
      const text = half + delta.text;
      half = isFirstHalf(text.charCodeAt(text.length - 1)) ? text.slice(-1) : '';
      const whole = half === '' ? text : text.slice(0, -1);
      if (whole !== '') onDelta({ kind, text: whole.toWellFormed() });
    },
    flush,
  };
}

function isFirstHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
