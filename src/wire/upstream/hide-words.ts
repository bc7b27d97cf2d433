// Prepares what an upstream said of a failure for operators: removes what the caller wrote, what
// authenticates us, and the user and query of addresses. Validators and gateways repeat what they
// reject, so an error may contain parts of a prompt or of a key.

import type { GenerationRequest } from '../../core/generation.ts';
import { SAID_LENGTH_MAX, type UpstreamSaid } from '../../core/upstream-said.ts';
import { letterOf, readEscapes, textsOf } from './callers-words.ts';

/** How much of a text is examined; more than is kept, because hidden parts get shorter. */
const EXAMINED_MAX = 2_000;

const NAME_LENGTH_MAX = 80;

/** How many characters of a request are read, which takes a few milliseconds. */
const COMPARED_MAX = 500_000;

/** A word that an upstream's programmers chose. */
const PLAIN_CODE = /^[a-z_]+$/i;

/** Letters and digits in a row that the caller wrote, too: three or four words. */
const CALLERS_LETTERS = 16;

/** Of our own keys. */
const SECRET_LETTERS = 8;

/** A letter of a script whose words have two or three of them. */
const WIDE_FROM = 0x2e80;
const WIDE_LETTERS = 3;

const HIDDEN = '…';

export type Hiding = {
  readonly request: GenerationRequest;
  /** Keys and tokens that the request was authenticated with. */
  readonly secrets: readonly string[];
  /** The upstream's name of the model: the operator's word, shown although a prompt has it. */
  readonly upstreamModel: string;
};

/** Only a plain code is left if the request is too long to be compared. */
export function hideWords(said: UpstreamSaid, hiding: Hiding): UpstreamSaid | undefined {
  const [code, param, message] = [said.code, said.param, said.message].map((text) =>
    text === undefined ? undefined : new Words(bare(text)),
  );
  const all = [code, param, message].filter((words) => words !== undefined);
  const isCompared = compare(all, hiding);
  const shown = (words: Words | undefined, length: number): string | undefined =>
    (isCompared && words?.shown(hiding.upstreamModel).slice(0, length).trim()) || undefined;
  const kept = {
    code: shown(code, NAME_LENGTH_MAX) ?? (isCompared ? undefined : plain(said.code)),
    param: shown(param, NAME_LENGTH_MAX),
    message: shown(message, SAID_LENGTH_MAX),
  };
  return Object.values(kept).some((text) => text !== undefined) ? defined(kept) : undefined;
}

function plain(code: string | undefined): string | undefined {
  return code !== undefined && PLAIN_CODE.test(code) ? code.slice(0, NAME_LENGTH_MAX) : undefined;
}

function defined(said: { readonly [Name in keyof UpstreamSaid]: string | undefined }) {
  return Object.fromEntries(Object.entries(said).filter(([, text]) => text !== undefined));
}

/** Marks what the caller or a key contains; false if the request is too long. */
function compare(all: readonly Words[], { request, secrets }: Hiding): boolean {
  const ofSecrets = new Search(SECRET_LETTERS, all);
  for (const secret of secrets) ofSecrets.read(secret);
  const search = new Search(CALLERS_LETTERS, all);
  if (search.isEmpty()) return true;
  const texts = textsOf(request);
  if (texts === 'too many') return false;
  let left = COMPARED_MAX;
  const spend = (characters: number): boolean => {
    left -= characters;
    return left >= 0;
  };
  for (const text of texts.all) {
    if (!spend(text.length + 1)) return false;
    search.read(text);
  }
  for (const text of texts.escaped) {
    if (!spend(text.length + 1)) return false;
    search.read(readEscapes(text, spend));
  }
  return left >= 0;
}

const TAGS = /<(?:style|script)[\s\S]*?<\/(?:style|script)>|<\/?[a-z!][^>]*>/gi;
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu;
const ADDRESS =
  /\b([a-z][a-z0-9+.-]{1,15}:\/\/)(?:[^\s/@"'<>]*@)?([^\s?#"'<>]*)(?:[?#][^\s"'<>]*)?/gi;
/** Keys in part, as in "sk-ab***yz", and words that begin as keys do. */
const KEYS = /\S*\*{3,}\S*|\b(?:sk|pk|rk|xai|gsk|key)-[\w-]{12,}|\bBearer\s+\S+/gi;
/** Encoded data, and tokens. */
const UNBROKEN = /\S{65,}/g;

/** One line without tags, keys and the secret parts of addresses. */
function bare(text: string): string {
  const examined = readEscapes(text.slice(0, EXAMINED_MAX), () => true);
  return examined
    .replace(TAGS, ' ')
    .replace(ADDRESS, '$1$2')
    .replace(KEYS, HIDDEN)
    .replace(UNBROKEN, HIDDEN)
    .replace(CONTROLS, ' ')
    .trim();
}

/** A text, its letters, and which of them are hidden. */
class Words {
  readonly #text: string;
  readonly letters: number[] = [];
  /** The position of each letter in the text. */
  readonly #places: number[] = [];
  readonly #hidden: Uint8Array;

  constructor(text: string) {
    this.#text = text;
    for (let at = 0; at < text.length; at += 1) {
      const letter = letterOf(text.charCodeAt(at));
      for (let times = weightOf(letter); times > 0; times -= 1) {
        this.letters.push(letter);
        this.#places.push(at);
      }
    }
    this.#hidden = new Uint8Array(text.length);
  }

  hide(fromLetter: number, letters: number): void {
    const from = this.#places[fromLetter] ?? 0;
    const to = this.#places[fromLetter + letters - 1] ?? from;
    this.#hidden.fill(1, from, to + 1);
  }

  /** `name` is shown in any case. */
  shown(name: string): string {
    if (name.length > 2) {
      for (let at = this.#text.indexOf(name); at !== -1; at = this.#text.indexOf(name, at + 1)) {
        this.#hidden.fill(0, at, at + name.length);
      }
    }
    let shown = '';
    for (let at = 0; at < this.#text.length; at += 1) {
      if (this.#hidden[at] === 0) shown += this.#text[at];
      else if (!shown.endsWith(HIDDEN)) shown += HIDDEN;
    }
    return shown;
  }
}

function weightOf(letter: number): number {
  if (letter === 0) return 0;
  return letter < WIDE_FROM ? 1 : WIDE_LETTERS;
}

const BASE = 0x01000193;
const FILTER_MASK = 0xffff;

/** Finds windows of letters in other texts by a rolling hash: one pass over each of them. */
class Search {
  readonly #length: number;
  /** The hash factor of the letter that leaves the window. */
  readonly #leaving: number;
  readonly #recent: Uint16Array;
  readonly #wanted = new Map<number, { readonly words: Words; readonly at: number }[]>();
  /** Whether a wanted hash ends in these bits, since a look into the map costs more. */
  readonly #filter = new Uint8Array(FILTER_MASK + 1);
  #hash = 0;
  #place = 0;

  constructor(length: number, all: readonly Words[]) {
    this.#length = length;
    this.#recent = new Uint16Array(length);
    this.#leaving = Array.from({ length }).reduce<number>((power) => Math.imul(power, BASE), 1);
    for (const words of all) {
      const { letters } = words;
      for (let at = 0; at + length <= letters.length; at += 1) {
        let hash = 0;
        for (let next = at; next < at + length; next += 1) hash = added(hash, letters[next] ?? 0);
        this.#wanted.getOrInsertComputed(hash, () => []).push({ words, at });
        this.#filter[hash & FILTER_MASK] = 1;
      }
    }
  }

  isEmpty(): boolean {
    return this.#wanted.size === 0;
  }

  /** Hides what is found. A window may span two texts. */
  read(text: string): void {
    const filter = this.#filter;
    const recent = this.#recent;
    const length = this.#length;
    const leaving = this.#leaving;
    // Fields would cost a third of the time.
    let hash = this.#hash;
    let place = this.#place;
    for (let at = 0; at < text.length; at += 1) {
      const letter = letterOf(text.charCodeAt(at));
      for (let times = weightOf(letter); times > 0; times -= 1) {
        hash = (added(hash, letter) - Math.imul(recent[place] ?? 0, leaving)) | 0;
        recent[place] = letter;
        place = place + 1 === length ? 0 : place + 1;
        if (filter[hash & FILTER_MASK] === 1) this.#found(hash);
      }
    }
    this.#hash = hash;
    this.#place = place;
  }

  #found(hash: number): void {
    for (const { words, at } of this.#wanted.get(hash) ?? []) words.hide(at, this.#length);
    this.#wanted.delete(hash);
  }
}

function added(hash: number, letter: number): number {
  return (Math.imul(hash, BASE) + letter) | 0;
}
