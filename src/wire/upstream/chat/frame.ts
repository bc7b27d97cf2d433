// The fast lane of the stream decoder. Within one stream, everything around the text of an ordinary
// chunk stays the same; this learns that frame once and then cuts the text out without parsing.
// It never guesses: a chunk that does not match to the byte takes the parser, with the same result.

import { parseJson } from '../../../core/json.ts';
import { type PlainDelta, readPlainDelta } from './delta.ts';

export type FrameLane = {
  /** The delta that parsing and reading this chunk would give, where the frame fits it. */
  readonly match: (chunk: string) => PlainDelta | undefined;
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

export function createFrameLane(): FrameLane {
  let frame: Frame | undefined;
  let learned = 0;
  return {
    match(chunk) {
      if (frame === undefined) return undefined;
      const { kind, before, after } = frame;
      // Empty text is not an event, and a reader may then look at another member.
      if (chunk.length <= before.length + after.length) return undefined;
      if (!chunk.startsWith(before) || !chunk.endsWith(after)) return undefined;
      const text = chunk.slice(before.length, chunk.length - after.length);
      return NEEDS_PARSER.test(text) ? undefined : { kind, text };
    },
    learn(chunk, value) {
      if (learned === FRAMES_MAX) return;
      const delta = readPlainDelta(value);
      if (delta === undefined || NEEDS_PARSER.test(delta.text)) return;
      learned += 1;
      frame = findFrame(chunk, delta) ?? frame;
    },
  };
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
