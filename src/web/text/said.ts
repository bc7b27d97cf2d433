// A sentence of the server in the visitor's language.

import type { Sentence } from '../../dashboard/records/operator-server.ts';
import { translateSentence } from '../../dashboard/texts/translate.ts';
import { catalogue } from './t.ts';

/** As it is: some begin with a path or a name. */
export function spoken(sentence: Sentence): string {
  return translateSentence(catalogue(), sentence);
}

/** With a capital letter, which sentences of logs do not have. */
export function said(sentence: Sentence): string {
  const words = spoken(sentence);
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
