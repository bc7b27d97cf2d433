// The fast lane of the stream decoder. Within one stream, everything around the text of an ordinary
// chunk stays the same; this learns that frame once and then cuts the text out without parsing.
// It never guesses: a chunk that does not match to the byte takes the parser, with the same result.

import { parseJson } from '../../../core/json.ts';
import { type PlainDelta, readPlainDelta } from './delta.ts';

export type FrameLane = {
  /**
   * The delta that parsing and reading a chunk would give, where the frame fits it. The chunk is
   * `text` from `from` to `to`.
   */
  readonly match: (text: string, from: number, to: number) => PlainDelta | undefined;
  /** Learns from a chunk that the parser has read without a failure. */
  readonly learn: (chunk: string, value: unknown) => void;
};

type Frame = {
  readonly kind: PlainDelta['kind'];
  /** Up to the text, its opening quote included. */
  readonly before: string;
  readonly after: string;
};

/** A stream has a frame for its reasoning and one for its text; some change with every chunk. */
const FRAMES_MAX = 6;

/** What cannot stand in a JSON string as it is. Text without these is its own JSON encoding. */
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
    // Empty text is not an event, and a reader may then look at another member.
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
 * The frame is proven with other text in its place: if that text is what is read, then the place
 * holds the string that makes the event, and nothing else in the frame has an effect.
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
