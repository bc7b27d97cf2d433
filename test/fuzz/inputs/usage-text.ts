// Token counts as upstreams of each dialect report them, wrong ones too, as JSON text.

import fc from 'fast-check';
import { jsonText, objectText, scalarText } from './json-text.ts';

const count = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 100 }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom('1000000000', '999999999.0', '1e3', '-1', '0.5') },
  { weight: 1, arbitrary: scalarText },
);

const chatDetails = fc.oneof(
  objectText({
    cached_tokens: count,
    cache_write_tokens: count,
    reasoning_tokens: count,
    ['a key with spaces']: count,
    note: jsonText,
  }),
  jsonText,
);

export const chatUsageText = objectText({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: chatDetails,
  completion_tokens_details: chatDetails,
  prompt_cache_hit_tokens: count,
  prompt_cache_miss_tokens: count,
  cached_tokens: count,
  reasoning_tokens: count,
});

export const messagesUsageText = objectText({
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
  cache_creation: fc.oneof(
    objectText({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
    jsonText,
  ),
  output_tokens_details: fc.oneof(objectText({ thinking_tokens: count }), jsonText),
});

export const responsesUsageText = objectText({
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  input_tokens_details: chatDetails,
  output_tokens_details: chatDetails,
});
