// A word of an upstream that its reader does not know: kept for operators, because it may mean that
// answers are read wrongly.

const LENGTH_MAX = 40;

/** A finish reason, which counts as a stop, or a type of events, which are skipped. */
export type UnknownWord = { readonly what: 'finish_reason' | 'event'; readonly word: string };

/** Cuts the word: it may be long. */
export function unknownWord(what: UnknownWord['what'], word: string): UnknownWord {
  return { what, word: word.slice(0, LENGTH_MAX) };
}

const MEANINGS: Readonly<Record<UnknownWord['what'], string>> = {
  finish_reason: 'an unknown finish reason, which counts as a stop:',
  event: 'events of an unknown type, which are skipped:',
};

/** What an upstream sends, in a line of ours. */
export function unknownWords({ what, word }: UnknownWord): string {
  return `${MEANINGS[what]} "${word.replaceAll(/[^\x21-\x7e]|["\\]/g, '?')}",`;
}
