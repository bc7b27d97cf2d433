// Collects the signed thinking of a Messages answer: it may be sent back only if it is complete and
// in order.

import type { ThinkingBlock } from '../../../core/generation.ts';
import { SIGNED_THINKING_LENGTH_MAX } from '../limits.ts';

export type Thought = { text: string; signature: string };

/** Overhead counted per block, so that many empty ones are bounded too. */
const BLOCK_LENGTH = 64;

export function createSignedThinking() {
  let kept: (Thought | { readonly data: string })[] = [];
  let length = 0;
  let isClosed = false;
  let isWhole = true;

  /** Whether `more` can still be kept. Servers refuse incomplete thinking. */
  function makeRoom(more: number): boolean {
    length += more;
    if (length > SIGNED_THINKING_LENGTH_MAX) isWhole = false;
    if (!isWhole) kept = [];
    return isWhole;
  }

  function add(block: Thought | { readonly data: string }, more: number): void {
    if (isClosed) isWhole = false;
    if (makeRoom(BLOCK_LENGTH + more)) kept.push(block);
  }

  return {
    begin(): Thought {
      const thought = { text: '', signature: '' };
      add(thought, 0);
      return thought;
    },
    addText(thought: Thought, text: string): void {
      if (makeRoom(text.length)) thought.text += text;
    },
    /** Signatures arrive whole; the last of several counts. */
    sign(thought: Thought, signature: string): void {
      if (signature !== '' && makeRoom(signature.length)) thought.signature = signature;
    },
    addRedacted(data: string): void {
      if (data !== '') add({ data }, data.length);
    },
    /** Other content follows. Later thinking could not be sent back in its place. */
    close(): void {
      isClosed = true;
    },
    /** Undefined if a part of it was unsigned, separated, or too long to keep. */
    blocks(): readonly ThinkingBlock[] | undefined {
      const said = kept.filter((block) => 'data' in block || block.text + block.signature !== '');
      const signed = said.flatMap(toBlock);
      return signed.length === 0 || signed.length < said.length ? undefined : signed;
    },
  };
}

function toBlock(kept: Thought | { readonly data: string }): ThinkingBlock[] {
  if ('data' in kept) return [{ kind: 'redacted', data: kept.data }];
  const { text, signature } = kept;
  return signature === '' ? [] : [{ kind: 'thinking', text, signature }];
}
