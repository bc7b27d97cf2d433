// The fast path of a dialect's stream. Within a stream, ordinary events differ only in their text,
// and in members that say nothing. This learns the surrounding frame once and then extracts the text
// without parsing. An event that does not match byte for byte goes to the parser, with the same
// result.

import { isObject, parseJson } from '../../core/json.ts';

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

/** Where events of a frame differ, and everything between that place and the one before it. */
type Gap = { readonly before: string; readonly kind: 'text' | 'number' | 'string' };

type Frame<Delta> = {
  /** What the events say, apart from their text. */
  readonly delta: Delta;
  readonly gaps: readonly Gap[];
  readonly after: string;
};

/** A place in an event: its value from `start` to `end`, and another value to try there. */
type Place = {
  readonly kind: Gap['kind'];
  readonly start: number;
  readonly end: number;
  readonly other: string;
};

/** A stream has one frame an item; in some, frames change with every event, and learning is vain. */
const VAIN_FRAMES_MAX = 6;

/** Characters that JSON strings must escape. Text without them is its own JSON encoding. */
const NEEDS_PARSER = /["\\\p{Cc}]/u;

const PROBE = 'probe';

/** What the lane knows of a dialect's ordinary events. */
export type LaneKind<Delta extends Said> = {
  /** What the parser's path reads; it must ignore the members in `varying`. */
  readonly read: (value: unknown) => Delta | undefined;
  /** A delta with another text: a spread would cost more than all else on this path. */
  readonly withText: (delta: Delta, text: string) => Delta;
  readonly varying: readonly string[];
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
    const { gaps, after } = frame;
    const last = to - after.length;
    const [first] = gaps;
    if (gaps.length === 1 && first !== undefined) {
      return this.#matchOne(frame, first.before, text, from, last);
    }
    if (!text.startsWith(after, last)) return undefined;
    let at = from;
    let said = '';
    for (let index = 0; index < gaps.length; index += 1) {
      const gap = gaps[index];
      if (gap === undefined || !text.startsWith(gap.before, at)) return undefined;
      at += gap.before.length;
      // The end of the last gap is known.
      const isLast = index === gaps.length - 1;
      const end = isLast && gap.kind !== 'number' ? last : endOf(gap.kind, text, at);
      if (end < at) return undefined;
      if (gap.kind !== 'number') {
        const value = text.slice(at, end);
        if (NEEDS_PARSER.test(value)) return undefined;
        if (gap.kind === 'text') said = value;
      }
      at = end;
    }
    // Empty text is not an event, and the parser might then use another member.
    if (said === '' || at !== last) return undefined;
    this.#hasMatched = true;
    return this.#kind.withText(frame.delta, said);
  }

  /** The same for a frame with no other gap than the text, as all those of chat are. */
  #matchOne(
    { delta, after }: Frame<Delta>,
    before: string,
    text: string,
    from: number,
    last: number,
  ): Delta | undefined {
    const start = from + before.length;
    if (start >= last || !text.startsWith(before, from) || !text.startsWith(after, last)) {
      return undefined;
    }
    const said = text.slice(start, last);
    if (NEEDS_PARSER.test(said)) return undefined;
    this.#hasMatched = true;
    return this.#kind.withText(delta, said);
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
   * Verifies the frame with other values in place: if those are what the parser reads, then these
   * positions hold the event's values and nothing else in the frame has an effect.
   */
  #find(chunk: string, delta: Delta): Frame<Delta> | undefined {
    const names = this.#kind.varying.filter((name) => chunk.includes(`"${name}"`));
    const varying = names.map((name) => placeOf(chunk, name));
    for (const opening of [':"', ': "']) {
      const at = chunk.indexOf(`${opening}${delta.text}"`);
      if (at === -1) continue;
      const start = at + opening.length;
      const text: Place = { kind: 'text', start, end: start + delta.text.length, other: PROBE };
      const places = [text, ...varying.filter((place) => place !== undefined)];
      const probe = parseJson(withOthers(chunk, places));
      if (!isObject(probe) || !isSame(this.#kind.read(probe), { ...delta, text: PROBE })) continue;
      const isHeld = names.every((name, index) => String(probe[name]) === varying[index]?.other);
      if (isHeld) return frameOf(chunk, delta, places);
    }
    return undefined;
  }
}

/** The value of a member, if it is a count or plain text; undefined if it is anything else. */
function placeOf(chunk: string, name: string): Place | undefined {
  const match = new RegExp(`"${name}": ?(?:(0|[1-9]\\d{0,14})(?=[,}])|"([^"\\\\]*)")`).exec(chunk);
  if (match === null) return undefined;
  const [whole, digits, words = ''] = match;
  const value = digits ?? words;
  const end = match.index + whole.length - (digits === undefined ? 1 : 0);
  const kind = digits === undefined ? 'string' : 'number';
  const other = kind === 'number' ? `${(Number(value) + 1) % 10 ** 14}` : `${value}${PROBE}`;
  return { kind, start: end - value.length, end, other };
}

function inOrder(places: readonly Place[]): readonly Place[] {
  return places.toSorted((one, other) => one.start - other.start);
}

function withOthers(chunk: string, places: readonly Place[]): string {
  let written = '';
  let at = 0;
  for (const { start, end, other } of inOrder(places)) {
    written += chunk.slice(at, start) + other;
    at = end;
  }
  return written + chunk.slice(at);
}

function frameOf<Delta>(chunk: string, delta: Delta, places: readonly Place[]): Frame<Delta> {
  const gaps: Gap[] = [];
  let at = 0;
  for (const { kind, start, end } of inOrder(places)) {
    gaps.push({ before: chunk.slice(at, start), kind });
    at = end;
  }
  return { delta, gaps, after: chunk.slice(at) };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function endOf(kind: Gap['kind'], text: string, start: number): number {
  return kind === 'number' ? numberEnd(text, start) : text.indexOf('"', start);
}

/** Where the digits end; -1 if they are not those of a count. */
function numberEnd(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end += 1;
  const isPadded = end - start > 1 && text.charCodeAt(start) === ZERO;
  return end === start || isPadded ? -1 : end;
}

const ZERO = 48;
const NINE = 57;

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
