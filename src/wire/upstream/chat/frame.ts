// The fast path of the stream decoder. Within a stream, ordinary chunks differ only in their text.
// This learns the surrounding frame once and then extracts the text without parsing. A chunk that
// does not match byte for byte goes to the parser, with the same result.

import { parseJson } from '../../../core/json.ts';
import { type PlainDelta, readPlainDelta } from './delta.ts';

export type FrameLane = {
  /**
   * The delta that parsing would give, if a frame matches. The chunk is `text` from `from` to `to`.
   */
  readonly match: (text: string, from: number, to: number) => PlainDelta | undefined;
  /** Learns from a chunk that the parser has read successfully. */
  readonly learn: (chunk: string, value: unknown) => void;
};

type Frame = {
  readonly kind: PlainDelta['kind'];
  /** Everything before the text, including its opening quote. */
  readonly before: string;
  readonly after: string;
};

/**
 * A stream has one frame for reasoning and one for text; in some, frames change with every chunk.
 */
const FRAMES_MAX = 6;

/** Characters that JSON strings must escape. Text without them is its own JSON encoding. */
const NEEDS_PARSER = /["\\\p{Cc}]/u;

const PROBE = 'probe';

export class LearningLane implements FrameLane {
  #frame: Frame | undefined;
  #learned = 0;

  match(text: string, from: number, to: number): PlainDelta | undefined {
    if (this.#frame === undefined) return undefined;
    const { kind, before, after } = this.#frame;
    const start = from + before.length;
    const end = to - after.length;
    // Empty text is not an event, and the parser might then use another member.
    if (start >= end) return undefined;
    if (!text.startsWith(before, from) || !text.startsWith(after, end)) return undefined;
    const delta = text.slice(start, end);
    return NEEDS_PARSER.test(delta) ? undefined : { kind, text: delta };
  }

  learn(chunk: string, value: unknown): void {
    if (this.#learned === FRAMES_MAX) return;
    const delta = readPlainDelta(value);
    if (delta === undefined || NEEDS_PARSER.test(delta.text)) return;
    this.#learned += 1;
    this.#frame = findFrame(chunk, delta) ?? this.#frame;
  }
}

/**
 * Verifies the frame with a different text in place: if that text is what the parser reads, then
 * this position holds the event's string and nothing else in the frame has an effect.
 */
function findFrame(chunk: string, { kind, text }: PlainDelta): Frame | undefined {
  for (const opening of [':"', ': "']) {
    const at = chunk.indexOf(`${opening}${text}"`);
    if (at === -1) continue;
    const start = at + opening.length;
    const before = chunk.slice(0, start);
    const after = chunk.slice(start + text.length);
    const probed = readPlainDelta(parseJson(before + PROBE + after));
    if (probed?.kind === kind && probed.text === PROBE) return { kind, before, after };
  }
  return undefined;
}
