// The thinking of a Messages answer as its upstream signed it, kept until the answer is over: only
// whole and in order may it go back. Called by the block reader.

import type { ThinkingBlock } from '../../../core/generation.ts';
import { SIGNED_THINKING_LENGTH_MAX } from '../limits.ts';

export type Thought = { text: string; signature: string };

/** What a block takes beside its texts, so that many empty ones are bounded too. */
const BLOCK_LENGTH = 64;

export function createSignedThinking() {
  let kept: (Thought | { readonly data: string })[] = [];
  let length = 0;
  let isClosed = false;
  let isWhole = true;

  /** Whether so much more may be kept. Servers refuse thinking of which a part is missing. */
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
    /** A signature comes whole; of several the last one counts. */
    sign(thought: Thought, signature: string): void {
      if (signature !== '' && makeRoom(signature.length)) thought.signature = signature;
    },
    addRedacted(data: string): void {
      if (data !== '') add({ data }, data.length);
    },
    /** Something else has been said. Thinking behind it could not go back in its place. */
    close(): void {
      isClosed = true;
    },
    /** Undefined where a part of it was not signed, stands apart, or is more than can be kept. */
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
