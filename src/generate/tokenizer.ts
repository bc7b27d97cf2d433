// The one tokenizer behind reservations and count_tokens. It counts every character and keeps the
// event loop free: long texts are counted in parts, a thousand characters in each turn of the
// loop. What was counted is remembered, and what has to be counted is bounded, for each account.

import { GatewayError } from '../core/error.ts';
import type { CountTexts } from '../core/estimate.ts';
import { countedCharacters, type Plan } from '../core/plan.ts';
import { type CountPiece, loadByteCounter, PIECE_CHARACTERS } from './byte-pairs.ts';
import { createCountBudgets } from './count-budget.ts';
import { createCountMemory } from './count-memory.ts';
import { createTurns } from './count-turns.ts';
import { isHighSurrogate } from './pieces.ts';

/** Counted in a turn of the loop, for all accounts together: 1 ms of the slowest text at most. */
const TURN_SIZES = { room: 4_096, part: 1_024 };

/** Texts below this are cheaper to count than to look up. */
const REMEMBER_FROM_CHARACTERS = 48;

const SPACE = 0x20;

export type Tokenizer = {
  /**
   * Counts the texts of one request of an account; a promise where the loop has to turn in between.
   * Throws `rate_limit_exceeded` where the account has had too much counted in this minute.
   */
  readonly counterFor: (accountId: string, plan: Plan) => CountTexts;
  /** Counts a short text at once, outside of budget and memory: answers as they stream by. */
  readonly countNow: (text: string) => number;
};

/** A text that is not remembered, and what to remember it by, where that pays. */
type Unknown = { readonly text: string; readonly key: string | undefined };

/** Loads the vocabulary; call it before serving. */
export async function loadTokenizer(monotonic: () => number): Promise<Tokenizer> {
  return createTokenizer(await loadByteCounter(), monotonic);
}

/** The tokenizer around any function that counts one piece. */
export function createTokenizer(countPiece: CountPiece, monotonic: () => number): Tokenizer {
  const memory = createCountMemory();
  const budgets = createCountBudgets(monotonic);
  const turns = createTurns(TURN_SIZES);

  const countNow = (text: string): number => {
    if (text.length <= PIECE_CHARACTERS) return countPiece(text);
    let tokens = 0;
    for (const piece of pieces(text)) tokens += countPiece(piece);
    return tokens;
  };

  /** The tokens of each piece of the texts; each text is remembered as soon as it is counted. */
  function* countPieces(accountId: string, unknown: readonly Unknown[]) {
    for (const { text, key } of unknown) {
      let tokens = 0;
      for (const piece of pieces(text)) {
        const counted = countPiece(piece);
        tokens += counted;
        yield { characters: piece.length, tokens: counted };
      }
      if (key !== undefined) memory.set(accountId, key, tokens);
    }
  }

  async function countInTurns(accountId: string, unknown: readonly Unknown[]): Promise<number> {
    let tokens = 0;
    const rest = countPieces(accountId, unknown);
    await turns.run(accountId, (most) => {
      let characters = 0;
      while (characters < most) {
        const { value: counted } = rest.next();
        if (counted === undefined) break;
        tokens += counted.tokens;
        characters += counted.characters;
      }
      return characters;
    });
    return tokens;
  }

  return {
    countNow,
    counterFor: (accountId, plan) => (texts) => {
      let tokens = 0;
      let characters = 0;
      const unknown: Unknown[] = [];
      for (const text of texts) {
        const key = text.length < REMEMBER_FROM_CHARACTERS ? undefined : memory.keyOf(text);
        const known = key === undefined ? undefined : memory.get(accountId, key);
        tokens += known ?? 0;
        if (known !== undefined) continue;
        unknown.push({ text, key });
        characters += text.length;
      }
      const wait = budgets.claim(accountId, countedCharacters(plan), characters);
      if (wait !== undefined) throw tooMuchText(wait, plan);
      if (!turns.claim(characters)) {
        return countInTurns(accountId, unknown).then((counted) => tokens + counted);
      }
      for (const { text, key } of unknown) {
        const counted = countNow(text);
        if (key !== undefined) memory.set(accountId, key, counted);
        tokens += counted;
      }
      return tokens;
    },
  };
}

function tooMuchText(retryAfterSeconds: number, plan: Plan): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `This account has sent more than ${countedCharacters(plan)} characters of new prompt text in a minute. Retry after ${retryAfterSeconds} seconds; text that was sent before does not count again.`,
    retryAfterSeconds,
  });
}

/** Cuts at a space where there is one, and never inside a surrogate pair. */
export function* pieces(text: string): Generator<string, undefined> {
  let start = 0;
  while (start < text.length) {
    const end = pieceEnd(text, start);
    yield text.slice(start, end);
    start = end;
  }
}

function pieceEnd(text: string, start: number): number {
  const limit = start + PIECE_CHARACTERS;
  if (limit >= text.length) return text.length;
  // `lastIndexOf` would look through all of a text without spaces, once for each piece.
  for (let at = limit; at > start; at -= 1) if (text.charCodeAt(at) === SPACE) return at;
  return isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit;
}
