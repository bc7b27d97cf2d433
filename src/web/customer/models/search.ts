// The search in the list of models: by name, alias, and capability as the page shows it.

import type { CustomerModelRecord } from '../../../dashboard/records/model.ts';
import { t } from '../../text/t.ts';

/** Streaming is left out: every model supports it. */
const WORDS: Readonly<Record<string, string>> = {
  tools: t('tools'),
  json_mode: t('JSON'),
  vision: t('images'),
  reasoning: t('reasoning'),
  prompt_cache: t('prompt cache'),
};

type Model = Pick<CustomerModelRecord, 'id' | 'display_name' | 'aliases' | 'features'>;

/** The capabilities of a model as short labels. */
export function featureWords(features: Model['features']): readonly string[] {
  return Object.entries(features).flatMap(([name, has]) => (has ? (WORDS[name] ?? []) : []));
}

/** Whether a model has all words of a search. */
export function fits({ id, display_name, aliases, features }: Model, search: string): boolean {
  const names = Object.entries(features).flatMap(([name, has]) => (has ? name : []));
  const text = [id, display_name, ...aliases, ...names, ...featureWords(features)]
    .join(' ')
    .toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
