// The forms in which vendors of the chat format write thinking and take it back.

import type { ChatTurn } from './chat-body.ts';
import { pieces } from './script.ts';
import type { Json } from './server.ts';

/** How a vendor writes and reads thinking. */
export type ThinkingForm = {
  /** The members of a whole message that carry a thought. */
  readonly whole: (thought: string, text: string) => Json;
  /** The deltas that carry it. */
  readonly deltas: (thought: string) => readonly Json[];
  /** What identifies it when it returns; the text itself by default. */
  readonly identify?: (thought: string) => string;
  /** The thinking that an earlier assistant turn has in the vendor's form. */
  readonly returned: (turn: ChatTurn) => readonly string[];
};

/** Thinking in a text member of the message, under one name in both directions. */
export function inField(name: 'reasoning_content' | 'reasoning'): ThinkingForm {
  return {
    whole: (thought) => ({ [name]: thought }),
    deltas: (thought) => pieces(thought).map((piece) => ({ [name]: piece })),
    returned: (turn) => (turn[name] ? [turn[name]] : []),
  };
}

/** Thinking as think tags in front of the text, and back in a member. */
export function inTags(name: 'reasoning_content' | 'reasoning'): ThinkingForm {
  const tagged = (thought: string) => `<think>\n${thought}\n</think>\n\n`;
  return {
    ...inField(name),
    whole: (thought, text) => ({ content: `${tagged(thought)}${text}` }),
    deltas: (thought) => pieces(tagged(thought)).map((content) => ({ content })),
  };
}

/** Thinking under one name, and back under either. */
export function underEither(name: 'reasoning_content' | 'reasoning'): ThinkingForm {
  return {
    ...inField(name),
    returned: ({ reasoning, reasoning_content: content }) => {
      return [reasoning ?? content ?? ''].filter((text) => text !== '');
    },
  };
}
