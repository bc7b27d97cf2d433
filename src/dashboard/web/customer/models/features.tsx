// The capabilities of a model as short labels.

import type { ModelRecord } from '../../../records/model.ts';
import { t } from '../../text/t.ts';

/** Streaming is left out: every model supports it. */
const WORDS: Readonly<Record<string, string>> = {
  tools: t('tools'),
  json_mode: t('JSON'),
  vision: t('images'),
  reasoning: t('reasoning'),
  prompt_cache: t('prompt cache'),
};

export function Features({ features }: Pick<ModelRecord, 'features'>) {
  const words = Object.entries(features).flatMap(([name, has]) => (has ? (WORDS[name] ?? []) : []));
  return <span class="soft small">{words.join(', ')}</span>;
}
