// The thinking of a Messages answer as its upstream signed it, kept until the answer is over: only
// whole and in order may it go back. Called by the block reader.

import type { ThinkingBlock } from '../../../core/generation.ts';
import { SIGNED_THINKING_LENGTH_MAX } from '../limits.ts';

export type Thought = { text: string; signature: string };

export type SignedThoughts = {
  readonly begin: () => Thought;
  readonly addText: (thought: Thought, text: string) => void;
  /** A signature comes whole; of several the last one counts. */
  readonly sign: (thought: Thought, signature: string) => void;
  readonly addRedacted: (data: string) => void;
  /** Undefined where nothing was signed, or it is more than can be kept. */
  readonly blocks: () => readonly ThinkingBlock[] | undefined;
};

/** What a block takes beside its texts, so that many empty ones are bounded too. */
const BLOCK_LENGTH = 64;

export function createSignedThinking(): SignedThoughts {
  let kept: (Thought | { readonly data: string })[] = [];
  let length = 0;

  /** Whether so much more may be kept. Without a part of it the rest is worth nothing. */
  function makeRoom(more: number): boolean {
    length += more;
    if (length <= SIGNED_THINKING_LENGTH_MAX) return true;
    kept = [];
    return false;
  }

  return {
    begin() {
      const thought = { text: '', signature: '' };
      if (makeRoom(BLOCK_LENGTH)) kept.push(thought);
      return thought;
    },
    addText(thought, text) {
      if (makeRoom(text.length)) thought.text += text;
    },
    sign(thought, signature) {
      if (signature !== '' && makeRoom(signature.length)) thought.signature = signature;
    },
    addRedacted(data) {
      if (data !== '' && makeRoom(BLOCK_LENGTH + data.length)) kept.push({ data });
    },
    blocks() {
      const signed = kept.flatMap(toBlock);
      return signed.length === 0 ? undefined : signed;
    },
  };
}

function toBlock(kept: Thought | { readonly data: string }): ThinkingBlock[] {
  if ('data' in kept) return [{ kind: 'redacted', data: kept.data }];
  const { text, signature } = kept;
  return signature === '' ? [] : [{ kind: 'thinking', text, signature }];
}
