// Cerebras' chat completions: gpt-oss and Qwen.
//
// Refuses: efforts outside of none, low, medium and high, and `none` at gpt-oss; tools of which only some
// are strict; earlier thinking under another name than `reasoning`. Errors are flat.
// From: @cerebras/cerebras_cloud_sdk 1.91.0 and @ai-sdk/cerebras 2.0.82 (28 November 2026). Whether
// reasoning_content in messages is refused or ignored is not documented.

import { chatVendor, checkNames, checkTextOnly, usual } from './chat.ts';
import type { ChatBody } from './chat-body.ts';
import { Refusal } from './server.ts';
import { inField } from './thinking-forms.ts';

function refuse(message: string, status = 400, code = 'wrong_api_format'): Refusal {
  return new Refusal(status, { message, type: 'invalid_request_error', param: null, code });
}

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refuse('Wrong API Key', 401, 'wrong_api_key'),
  402: () => refuse('Payment required', 402, 'payment_required'),
  429: () => refuse('Requests per minute limit exceeded', 429, 'request_quota_exceeded'),
  500: () => refuse('Encountered a server error', 500, 'server_error'),
  long: () =>
    refuse(
      'Please reduce the length of the messages or completion. Current length is 140000 while limit is 131072',
      400,
      'context_length_exceeded',
    ),
};

function check(body: ChatBody): void {
  const isGptOss = body.model.includes('gpt-oss');
  const efforts = isGptOss ? ['low', 'medium', 'high'] : ['none', 'low', 'medium', 'high'];
  const effort = body.reasoning_effort;
  if (effort != null && !efforts.includes(effort)) {
    throw refuse(`reasoning_effort: Input should be ${efforts.join(', ')}`);
  }
  const strict = new Set((body.tools ?? []).map((tool) => tool.function.strict === true));
  if (strict.size > 1) throw refuse('Tools with mixed values for strict are not allowed.');
  const other = body.messages.findIndex((turn) => turn.reasoning_content != null);
  if (other !== -1) throw refuse(`messages.${other}.reasoning_content: unsupported`);
  checkTextOnly(body, () => refuse('messages.content: Input should be a valid string'));
  checkNames(body, /^[a-zA-Z0-9_-]{1,64}$/, (name) => refuse(`invalid tool name ${name}`));
}

/** The vendor. */
export const cerebras = chatVendor({
  unknownPath: () => refuse('Not Found', 404, 'not_found'),
  faults: FAULTS,
  check,
  thinks: (body) => body.reasoning_effort !== 'none',
  thinking: inField('reasoning'),
  usage: usual,
});
