// DashScope's chat-compatible endpoint, Qwen 3.8.
//
// Refuses: a forced tool while it thinks; efforts outside of its seven words; a request for JSON
// without that word. `enable_thinking: false` and the effort `none` turn thinking off. Earlier thinking is
// read only with `preserve_thinking: true`. `partial: true` marks a beginning, and only while the model does
// not think.
// From: help.aliyun.com, deep thinking and partial mode; @ai-sdk/alibaba 1.0.61 and LiteLLM 1.110.2 (28 November 2026);
// apiyi. The refusal of forced tools is documented for models before 3.8.

import { chatVendor, checkJsonWord, checkNames, forces, usual } from './chat.ts';
import { type ChatBody, prefillOf } from './chat-body.ts';
import { refusalOf } from './script.ts';
import { Refusal } from './server.ts';
import { inField } from './thinking-forms.ts';

function refuse(code: string, message: string, status = 400): Refusal {
  return refusalOf(message, { status, code, type: code });
}

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refuse('invalid_api_key', 'Incorrect API key provided.', 401),
  402: () =>
    refuse('Arrearage', 'Access denied, please make sure your account is in good standing.'),
  429: () => refuse('Throttling.RateQuota', 'Requests rate limit exceeded.', 429),
  500: () => refuse('InternalError', 'An internal error has occurred.', 500),
  long: () => refuse('invalid_parameter_error', 'Range of input length should be [1, 1000000]'),
  filter: () => refuse('data_inspection_failed', 'Input data may contain inappropriate content.'),
};

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

const thinks = (body: ChatBody): boolean => {
  return body['enable_thinking'] !== false && body.reasoning_effort !== 'none';
};

function check(body: ChatBody): void {
  const effort = body.reasoning_effort;
  const parameter = (text: string) => refuse('invalid_parameter_error', text);
  if (effort != null && !EFFORTS.includes(effort)) {
    throw parameter(`The value of the reasoning_effort parameter ${effort} is invalid.`);
  }
  if (thinks(body) && forces(body)) {
    throw parameter('The tool_choice parameter does not support being set in thinking mode.');
  }
  if (body.messages.at(-1)?.partial === true && thinks(body)) {
    throw parameter('Partial mode is not supported when enable_thinking is true.');
  }
  checkJsonWord(body, () => parameter("'messages' must contain the word 'json' in some form."));
  checkNames(body, /^[a-zA-Z0-9_-]{1,64}$/, (name) => parameter(`tools.function.name ${name}`));
}

/** The vendor. */
export const qwen = chatVendor({
  unknownPath: () => new Refusal(404, ''),
  faults: FAULTS,
  check,
  thinks,
  thinking: (body) => {
    const form = inField('reasoning_content');
    return body['preserve_thinking'] === true ? form : { ...form, returned: () => [] };
  },
  prefill: (body) => (body.messages.at(-1)?.partial === true ? prefillOf(body) : ''),
  usage: usual,
});
