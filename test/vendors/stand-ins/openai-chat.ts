// OpenAI's chat completions, GPT-5.2 to 6.2. The model's name selects the generation.
//
// Refuses: tools at any effort but `none` since GPT-5.4, and an omitted effort counts as the default;
// `none` at models that always think; `max`, which is a word of Responses; `max_tokens`; sampling
// while it thinks; `stop`; unknown members; a request for JSON without that word; open strict schemas.
// Shows no thinking and takes none back.
// From: types of openai 7.59.0 and LiteLLM 1.110.2 (28 November 2026); reports of genkit 6303, Vane 1173
// and litellm 34569; laozhang, 4 November 2026.

import { chatVendor, checkJsonWord, stopsOf, usual } from './chat.ts';
import type { ChatBody } from './chat-body.ts';
import {
  alwaysThinks,
  checkFunctions,
  OPENAI_FAULTS,
  openai,
  unknownUrl,
} from './openai-errors.ts';

const MEMBERS = new Set([
  ...['model', 'messages', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning_effort'],
  ...['response_format', 'stream', 'stream_options', 'max_completion_tokens', 'max_tokens'],
  ...['temperature', 'top_p', 'stop', 'n', 'seed', 'logprobs', 'top_logprobs', 'user', 'store'],
  ...['presence_penalty', 'frequency_penalty', 'logit_bias', 'metadata', 'verbosity'],
  ...['service_tier', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
  ...['safety_identifier', 'prediction', 'modalities', 'web_search_options', 'moderation'],
]);

const DEFAULTS = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 } as const;

function check(body: ChatBody): void {
  const { model, reasoning_effort: effort } = body;
  const unknown = Object.keys(body).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) {
    const text = `Unknown parameter: '${unknown}'.`;
    throw openai(text, { param: unknown, code: 'unknown_parameter' });
  }
  const deepest = ['low', 'medium', 'high', 'xhigh'];
  const efforts = alwaysThinks(model) ? deepest : ['none', ...deepest];
  if (effort != null && !efforts.includes(effort)) {
    const text = `'reasoning_effort' does not support '${effort}' with this model.`;
    throw openai(text, { param: 'reasoning_effort', code: 'unsupported_value' });
  }
  const isOld = /^gpt-5\.[0-3]/.test(model);
  if (!isOld && (body.tools?.length ?? 0) > 0 && effort !== 'none') {
    const text = `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;
    throw openai(text, { param: 'reasoning_effort' });
  }
  if (body.max_tokens != null) {
    const text = "'max_tokens' is not supported with this model. Use 'max_completion_tokens'.";
    throw openai(text, { param: 'max_tokens', code: 'unsupported_parameter' });
  }
  for (const [name, value] of Object.entries(DEFAULTS)) {
    if (effort === 'none' || body[name] == null || body[name] === value) continue;
    const text = `'${name}' does not support ${body[name]} with this model.`;
    throw openai(text, { param: name, code: 'unsupported_value' });
  }
  if (stopsOf(body).length > 0) {
    const text = "'stop' is not supported with this model.";
    throw openai(text, { param: 'stop', code: 'unsupported_parameter' });
  }
  checkFunctions((body.tools ?? []).map((tool) => tool.function));
  const schema = body.response_format?.json_schema;
  if (schema?.strict === true && schema.schema?.additionalProperties !== false) {
    throw openai("'additionalProperties' is required to be false.", { param: 'response_format' });
  }
  checkJsonWord(body, () => {
    return openai("'messages' must contain the word 'json' in some form.", { param: 'messages' });
  });
}

/** The vendor. `azure`: the same behind the header `api-key`, with Azure's first chunk. */
export function openaiChat({ azure = false } = {}) {
  return chatVendor({
    unknownPath: unknownUrl,
    faults: OPENAI_FAULTS,
    check,
    thinks: (body) => body.reasoning_effort !== 'none',
    usage: (counts) => usual(counts, { cache_write_tokens: counts.written }),
    ...(azure
      ? {
          credential: (headers) => headers['api-key'] !== undefined,
          opening: [{ choices: [], prompt_filter_results: [{ prompt_index: 0 }] }],
        }
      : {}),
  });
}
