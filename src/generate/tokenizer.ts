// The tokenizer used by reservations and count_tokens. It counts every character without blocking
// the event loop: long texts are counted in parts of about a thousand characters per turn. Counts
// are cached, and uncached text is limited, by account.

import type { CountTexts } from '../core/estimate.ts';
import { countedCharacters, type Plan } from '../core/plan.ts';
import { isHighSurrogate } from '../core/surrogate.ts';
import { type CountPiece, loadByteCounter, PIECE_CHARACTERS } from './byte-pairs.ts';
import { createCountMemory } from './count-memory.ts';
import { createTurns } from './count-turns.ts';
import { createMinuteBudgets, requireBudget } from './minute-budget.ts';

/** Characters per turn of the loop for all accounts: at most 1 ms for the slowest text. */
const TURN_SIZES = { room: 4_096, part: 1_024 };

/** Shorter texts are cheaper to count than to look up. */
const REMEMBER_FROM_CHARACTERS = 48;

const SPACE = 0x20;

export type Tokenizer = {
  /**
   * Counts the texts of one request. Returns a promise if it has to yield to the event loop. Throws
   * `rate_limit_exceeded` if the account has used its counting budget for this minute.
   */
  readonly counterFor: (accountId: string, plan: Plan) => CountTexts;
  /** Counts a short text immediately, without budget or cache. Used for answers as they stream. */
  readonly countNow: (text: string) => number;
};

/** A text that is not cached, with its cache key if it is worth caching. */
type Unknown = { readonly text: string; readonly key: string | undefined };

/** Loads the vocabulary; call it before serving. */
export async function loadTokenizer(monotonic: () => number): Promise<Tokenizer> {
  return createTokenizer(await loadByteCounter(), monotonic);
}

/** Builds the tokenizer around any function that counts one piece. */
export function createTokenizer(countPiece: CountPiece, monotonic: () => number): Tokenizer {
  const memory = createCountMemory();
  const budgets = createMinuteBudgets(monotonic);
  const turns = createTurns(TURN_SIZES);

  const countNow = (text: string): number => {
    if (text.length <= PIECE_CHARACTERS) return countPiece(text);
    let tokens = 0;
    for (const piece of pieces(text)) tokens += countPiece(piece);
    return tokens;
  };

  /** Yields the tokens of each piece; each text is cached once it is counted. */
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
      const most = countedCharacters(plan);
      requireBudget(
        budgets.claim(accountId, most, characters),
        (seconds) =>
          `This account has sent more than ${most} characters of new prompt text in a minute. Retry after ${seconds} seconds; text that was sent before does not count again.`,
      );
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

/** Cuts at a space if there is one, and never inside a surrogate pair. */
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
  // `lastIndexOf` would scan the whole text for each piece if it has no spaces.
  for (let at = limit; at > start; at -= 1) if (text.charCodeAt(at) === SPACE) return at;
  return isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit;
}
