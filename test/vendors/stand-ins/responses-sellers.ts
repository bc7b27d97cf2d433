// What the vendors of a Responses endpoint take: members of the request and efforts. The sources are in
// responses.ts.

import { alwaysThinks } from './openai-errors.ts';

/** Who offers the endpoint; `local` is a server of open models. */
export type ResponsesSeller = 'openai' | 'azure' | 'xai' | 'openrouter' | 'local';

const MEMBERS = [
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'include'],
  ...['reasoning', 'store', 'stream', 'text', 'max_output_tokens', 'max_tool_calls', 'user'],
  ...['prompt_cache_key', 'service_tier', 'top_logprobs', 'previous_response_id', 'background'],
];
const OPENAI_MEMBERS = [
  ...['prompt_cache_options', 'prompt_cache_retention', 'safety_identifier', 'truncation'],
  ...['metadata', 'conversation', 'prompt', 'moderation', 'context_management', 'stream_options'],
];
const SAMPLING = ['temperature', 'top_p'];

/** The members of a request that each one takes. */
export const TAKEN: Readonly<Record<ResponsesSeller, ReadonlySet<string>>> = {
  openai: new Set([...MEMBERS, ...OPENAI_MEMBERS]),
  azure: new Set([...MEMBERS, ...OPENAI_MEMBERS]),
  xai: new Set([...MEMBERS, ...SAMPLING]),
  openrouter: new Set([...MEMBERS, ...SAMPLING, 'metadata', 'provider']),
  local: new Set([...MEMBERS, ...SAMPLING, 'truncation', 'metadata']),
};

const DEEPEST = ['low', 'medium', 'high', 'xhigh'];

/** The efforts that a model has there. */
export function effortsOf(seller: ResponsesSeller, model: string): readonly string[] {
  switch (seller) {
    case 'xai':
      return /grok-4\.3/.test(model) ? ['none', ...DEEPEST] : DEEPEST;
    case 'openrouter':
      return ['none', 'minimal', ...DEEPEST, 'max'];
    case 'local':
      return ['none', 'low', 'medium', 'high'];
    default: {
      const efforts = seller === 'azure' ? DEEPEST : [...DEEPEST, 'max'];
      return alwaysThinks(model) ? efforts : ['none', ...efforts];
    }
  }
}
