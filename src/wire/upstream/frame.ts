// The fast path of a dialect's stream. Within a stream, ordinary events differ only in their text,
// and in members that say nothing. This learns the surrounding frame once and then extracts the text
// without parsing. An event that does not match byte for byte goes to the parser, with the same
// result.

import { parseJson } from '../../core/json.ts';

/** What such an event says: its text, and where it belongs. */
type Said = { readonly text: string };

export type FrameLane<Delta extends Said> = {
  /**
   * The delta that parsing would give, if a frame matches. The event is `text` from `from` to `to`.
   */
  readonly match: (text: string, from: number, to: number) => Delta | undefined;
  /** Learns from an event that the parser has read successfully. */
  readonly learn: (chunk: string, value: unknown) => void;
};

type Frame<Delta> = {
  /** What the events say, apart from their text. */
  readonly delta: Delta;
  /** Everything around the text. */
  readonly before: string;
  readonly after: string;
  /** Matches the event and captures its text, if more than the text differs. */
  readonly pattern: RegExp | undefined;
};

/** A stream has one frame an item; in some, frames change with every event, and learning is vain. */
const VAIN_FRAMES_MAX = 6;

/** Characters that JSON strings must escape. Text without them is its own JSON encoding. */
const NEEDS_PARSER = /["\\\p{Cc}]/u;
const TEXT = '[^"\\\\\\p{Cc}]';
const COUNT = '(?:0|[1-9]\\d*)';

const PROBE = 'probe';

/** What the lane knows of a dialect's ordinary events. */
export type LaneKind<Delta extends Said> = {
  /** What the parser's path reads. */
  readonly read: (value: unknown) => Delta | undefined;
  /** A delta with another text: a spread would cost more than all else on this path. */
  readonly withText: (delta: Delta, text: string) => Delta;
  /**
   * Matches the values that differ from event to event and that `read` ignores: counts, and strings
   * without their quotes.
   */
  readonly varying?: RegExp;
};

export class LearningLane<Delta extends Said> implements FrameLane<Delta> {
  readonly #kind: LaneKind<Delta>;
  #frame: Frame<Delta> | undefined;
  #vain = 0;
  #hasMatched = true;

  constructor(kind: LaneKind<Delta>) {
    this.#kind = kind;
  }

  match(text: string, from: number, to: number): Delta | undefined {
    const frame = this.#frame;
    if (frame === undefined) return undefined;
    const { pattern } = frame;
    const said =
      pattern === undefined ? between(frame, text, from, to) : captured(pattern, text, from, to);
    if (said === undefined) return undefined;
    this.#hasMatched = true;
    return this.#kind.withText(frame.delta, said);
  }

  learn(chunk: string, value: unknown): void {
    if (this.#vain === VAIN_FRAMES_MAX) return;
    const delta = this.#kind.read(value);
    if (delta === undefined || NEEDS_PARSER.test(delta.text)) return;
    if (!this.#hasMatched) this.#vain += 1;
    this.#hasMatched = false;
    this.#frame = this.#find(chunk, delta) ?? this.#frame;
  }

  /**
   * Verifies the frame with other values in place: if the text is then what the parser reads, this
   * position holds the event's text and nothing else in the frame has an effect.
   */
  #find(chunk: string, delta: Delta): Frame<Delta> | undefined {
    const { read, varying } = this.#kind;
    const other = (part: string): string =>
      varying === undefined ? part : part.replace(varying, '0');
    for (const opening of [':"', ': "']) {
      const at = chunk.indexOf(`${opening}${delta.text}"`);
      if (at === -1) continue;
      const start = at + opening.length;
      const before = chunk.slice(0, start);
      const after = chunk.slice(start + delta.text.length);
      const probe = read(parseJson(other(before) + PROBE + other(after)));
      if (JSON.stringify(probe) !== JSON.stringify({ ...delta, text: PROBE })) continue;
      return { delta, before, after, pattern: patternOf(before, after, varying) };
    }
    return undefined;
  }
}

/** Undefined if nothing varies but the text: comparing strings is faster. */
function patternOf(before: string, after: string, varying: RegExp | undefined): RegExp | undefined {
  if (varying === undefined) return undefined;
  const sourceOf = (part: string): string => {
    const pieces = part.split(varying);
    const gaps = pieces.map((piece) => (piece.endsWith('"') ? `${TEXT}*` : COUNT));
    return pieces.map((piece, at) => (gaps[at - 1] ?? '') + RegExp.escape(piece)).join('');
  };
  return new RegExp(`${sourceOf(before)}(${TEXT}+)${sourceOf(after)}`, 'uy');
}

/** Empty text is not an event, and the parser might then use another member. */
function between(
  { before, after }: Frame<unknown>,
  text: string,
  from: number,
  to: number,
): string | undefined {
  const start = from + before.length;
  const end = to - after.length;
  if (start >= end || !text.startsWith(before, from) || !text.startsWith(after, end)) {
    return undefined;
  }
  const said = text.slice(start, end);
  return NEEDS_PARSER.test(said) ? undefined : said;
}

function captured(pattern: RegExp, text: string, from: number, to: number): string | undefined {
  pattern.lastIndex = from;
  const said = pattern.exec(text)?.[1];
  return pattern.lastIndex === to ? said : undefined;
}
