// What a model can do, as small words.

import type { ModelRecord } from '../../../records/model.ts';

const WORDS: Readonly<Record<keyof ModelRecord['features'], string>> = {
  tools: 'tools',
  json_mode: 'JSON',
  vision: 'images',
  reasoning: 'reasoning',
  streaming: 'streaming',
  prompt_cache: 'prompt cache',
};

export function Features({ features }: Pick<ModelRecord, 'features'>) {
  const words = Object.entries(features).flatMap(([name, has]) =>
    has ? WORDS[name as keyof ModelRecord['features']] : [],
  );
  return <span class="soft small">{words.join(', ')}</span>;
}
