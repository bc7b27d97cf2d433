// Prepares what an upstream said of a failure for operators: removes what the caller wrote, what
// authenticates us, and the user and query of addresses. Validators and gateways repeat what they
// reject, so an error may contain parts of a prompt or of a key.

import type { UpstreamSaid } from '../../core/failure.ts';
import type { GenerationRequest } from '../../core/generation.ts';
import { readEscapes, type WroteWords, wordsIn, wordsOf } from './callers-words.ts';

export const SAID_LENGTH_MAX = 300;
const NAME_LENGTH_MAX = 80;

/** A word that an upstream's programmers chose. */
const PLAIN_CODE = /^[a-z_]{1,80}$/i;

/** Words in a row with so many letters are hidden if the caller wrote them, too: three or four. */
const CALLERS_LETTERS = 16;

/** Of our own keys. */
const SECRET_LETTERS = 8;

const HIDDEN = '…';

export type Hiding = {
  readonly request: GenerationRequest;
  /** Keys and tokens that the request was authenticated with. */
  readonly secrets: readonly string[];
  /** The upstream's name of the model: the operator's word, shown although a prompt has it. */
  readonly upstreamModel: string;
};

/** Only the code and a few letters are left if the request is too long to be compared. */
export function hideWords({ code, param, message }: UpstreamSaid, hiding: Hiding): UpstreamSaid {
  const wrote = wordsOf(hiding.request);
  const isSecret = wordsIn(hiding.secrets);
  const hideBoth = (text: string): string =>
    hide(hide(text, SECRET_LETTERS, isSecret), CALLERS_LETTERS, wrote);
  const { upstreamModel } = hiding;
  const shown = (text: string | undefined, lengthMax: number): string | undefined => {
    const examined = bare(text ?? '').slice(0, 2 * lengthMax);
    const pieces = upstreamModel.length > 2 ? examined.split(upstreamModel) : [examined];
    const kept = pieces.map(hideBoth).join(upstreamModel).slice(0, lengthMax).trim();
    return kept.search(WORD) === -1 ? undefined : kept;
  };
  return {
    code: code !== undefined && PLAIN_CODE.test(code) ? code : shown(code, NAME_LENGTH_MAX),
    param: shown(param, NAME_LENGTH_MAX),
    message: shown(message, SAID_LENGTH_MAX),
  };
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
  return readEscapes(text)
    .replace(TAGS, ' ')
    .replace(ADDRESS, '$1$2')
    .replace(KEYS, HIDDEN)
    .replace(UNBROKEN, HIDDEN)
    .replace(CONTROLS, ' ')
    .trim();
}

/** Other scripts are searched letter by letter, since some have no spaces. */
const WORD = /[a-z0-9]+|[^\0-\xbf\u2000-\u206f]/gi;
const HIDDEN_ROW = /…(?:[^\p{L}\p{N}…]*…)+/gu;

/** Hides words in a row that have enough letters and are found. */
function hide(text: string, lettersMin: number, isFound: WroteWords): string {
  const words = [...text.matchAll(WORD)];
  const hidden = new Set<number>();
  for (let first = 0; first < words.length; ) {
    const row: string[] = [];
    let found = 0;
    for (const [word] of words.slice(first)) {
      row.push(word);
      if (row.reduce(addLetters, 0) < lettersMin) continue;
      if (!isFound(row.join(' '))) break;
      found = row.length;
    }
    for (const { index } of words.slice(first, first + found)) hidden.add(index);
    first += found || 1;
  }
  const shown = text.replaceAll(WORD, (word, at: number) => (hidden.has(at) ? HIDDEN : word));
  return shown.replaceAll(HIDDEN_ROW, HIDDEN);
}

/** A letter of a script whose words have two or three of them counts for three. */
function addLetters(sum: number, word: string): number {
  return sum + (word < '\u2e80' ? word.length : 3);
}
