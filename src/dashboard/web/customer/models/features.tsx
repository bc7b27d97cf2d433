// The capabilities of a model as short labels.

import type { ModelRecord } from '../../../records/model.ts';

/** Streaming is left out: every model supports it. */
const WORDS: Readonly<Record<string, string>> = {
  tools: 'tools',
  json_mode: 'JSON',
  vision: 'images',
  reasoning: 'reasoning',
  prompt_cache: 'prompt cache',
};

export function Features({ features }: Pick<ModelRecord, 'features'>) {
  const words = Object.entries(features).flatMap(([name, has]) => (has ? (WORDS[name] ?? []) : []));
  return <span class="soft small">{words.join(', ')}</span>;
}
