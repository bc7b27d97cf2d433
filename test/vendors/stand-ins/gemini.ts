// Google's chat-compatible endpoint, Gemini 3.x and 4.
//
// Refuses: unknown members; `none` and `minimal`, which 3.x and 4 do not have; `xhigh` but at Hydrogen;
// a history whose first call in a turn lacks its thought signature, or has another one; names outside of
// `[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}`. Errors are a list of one object. Calls arrive whole. Thoughts are
// hidden, so the signature is all that returns.
// From: the vendor's page on OpenAI compatibility; reports of pi 3234, 6733 and 7745, securo 884 and
// OpenChatCut 6; LiteLLM's price map (28 November 2026). The list of unknown members is from reports.

import { chatVendor, checkNames, usual } from './chat.ts';
import type { ChatBody } from './chat-body.ts';
import { fresh } from './script.ts';
import { type Json, Refusal, type Seen } from './server.ts';

const STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

function refuse(message: string, code = 400, details: readonly Json[] = []): Refusal {
  const more = details.length === 0 ? {} : { details };
  return new Refusal(code, [{ error: { code, message, status: STATUS[code], ...more } }]);
}

const INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const RETRY = 'type.googleapis.com/google.rpc.RetryInfo';

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refuse('API key not valid.', 400, [{ '@type': INFO, reason: 'API_KEY_INVALID' }]),
  402: () => refuse('Your prepayment credits are depleted.', 429),
  429: () =>
    refuse('You exceeded your current quota.', 429, [{ '@type': RETRY, retryDelay: '17s' }]),
  500: () => refuse('An internal error has occurred.', 500),
  503: () => refuse('The model is overloaded. Please try again later.', 503),
  long: () =>
    refuse(
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
};

const UNKNOWN = [
  ...['thinking', 'enable_thinking', 'chat_template_kwargs', 'reasoning', 'store', 'metadata'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'safety_identifier'],
];

/** What Google documents for histories of other models; it costs quality. */
const SKIP = 'skip_thought_signature_validator';

/** Signatures that were given out, by the call that they stand beside. */
const signatures = new Map<string, string>();

function check(body: ChatBody, seen: Seen): void {
  const unknown = UNKNOWN.find((name) => name in body);
  if (unknown !== undefined) {
    throw refuse(`Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`);
  }
  const deepest = /gemini-4-hydrogen/.test(body.model) ? ['xhigh'] : [];
  const effort = body.reasoning_effort;
  if (effort != null && !['low', 'medium', 'high', ...deepest].includes(effort)) {
    throw refuse(`Unsupported reasoning_effort "${effort}" for this model.`);
  }
  for (const { role, tool_calls: calls } of body.messages) {
    const [call] = calls ?? [];
    if (role !== 'assistant' || call === undefined) continue;
    const signature = call.extra_content?.google?.thought_signature;
    if (signature === undefined) {
      throw refuse(
        `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`default_api:${call.function.name}\`, position 2.`,
      );
    }
    if (signature === SKIP) continue;
    if (signatures.get(signature) !== call.function.name) {
      throw refuse('Thought signature is not valid.');
    }
    seen.returned.push(signature);
  }
  checkNames(body, /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/, (name) => {
    return refuse(`Invalid function name: ${name}.`);
  });
}

/** The vendor. */
export const gemini = chatVendor({
  unknownPath: () => new Refusal(404, ''),
  faults: FAULTS,
  check,
  thinks: () => true,
  usage: (counts) => {
    const { completion_tokens_details: _, ...usage } = usual(counts);
    return usage;
  },
  wholeCalls: () => true,
  besideCall: (call, index, seen) => {
    if (index > 0) return {};
    const signature = fresh('sig');
    signatures.set(signature, call.name);
    seen.given.push(signature);
    return { extra_content: { google: { thought_signature: signature } } };
  },
});
