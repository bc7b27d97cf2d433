// Hosts of open models: Together and Fireworks, with GLM-5.3.
//
// Both have OpenAI's shape and take the efforts low, medium, high and max at GLM-5.3. Together names
// thinking `reasoning` here and ends a stream with a chunk without choices; Fireworks names it
// reasoning_content. Which name returns is not documented, so either does.
// From: LiteLLM 1.110.2 (28 November 2026); docs.together.ai and docs.fireworks.ai on reasoning.

import { chatVendor, checkNames, checkTextOnly, usual } from './chat.ts';
import { refusalOf } from './script.ts';
import type { Refusal } from './server.ts';
import { underEither } from './thinking-forms.ts';

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refusalOf('Invalid API key provided', { status: 401, code: 'invalid_api_key' }),
  402: () => refusalOf('Credit limit exceeded', { status: 402, type: 'credit_limit' }),
  429: () => refusalOf('Rate limit reached', { status: 429, type: 'model_rate_limit' }),
  500: () => refusalOf('Server error', { status: 500, type: 'server_error' }),
  long: () =>
    refusalOf("This model's maximum context length is 202752 tokens, and yours has 300000."),
};

const EFFORTS = ['low', 'medium', 'high', 'max'];

function host(field: 'reasoning' | 'reasoning_content') {
  return chatVendor({
    unknownPath: () => refusalOf('Not Found', { status: 404 }),
    faults: FAULTS,
    check: (body) => {
      const effort = body.reasoning_effort;
      if (effort != null && !EFFORTS.includes(effort)) {
        throw refusalOf(`reasoning_effort: ${effort} is not supported`);
      }
      checkTextOnly(body, () => refusalOf('This model does not support images.'));
      checkNames(body, /^[a-zA-Z0-9_-]{1,64}$/, (name) => refusalOf(`invalid tool name ${name}`));
    },
    thinks: () => true,
    thinking: underEither(field),
    usage: usual,
    usageUnasked: true,
  });
}

/** Together. */
export const together = host('reasoning');

/** Fireworks. */
export const fireworks = host('reasoning_content');
