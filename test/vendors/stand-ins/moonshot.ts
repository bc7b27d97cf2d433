// Moonshot's chat completions, Kimi K2.5 to K3.1.
//
// Refuses: `disabled` at K3 and K2.7; efforts other than low, medium, high, xhigh and max at K3; any
// temperature but 1 (0.6 with thinking off), top_p but 0.95, n but 1 and penalties but 0; `required` at
// K2.x; turns with calls and no reasoning_content while it thinks; addresses of images; more than 5 stop
// sequences or longer than 32 bytes; names that do not begin with a letter. `partial: true` marks a
// beginning.
// From: platform.kimi.ai; the providers of the AI SDK (@ai-sdk/moonshotai 3.0.60) and LiteLLM 1.110.2
// (28 November 2026); aihubmix, 24 October 2026.

import { chatVendor, checkNames, stopsOf, usual } from './chat.ts';
import { type ChatBody, callTurnWithout, partsOf, prefillOf } from './chat-body.ts';
import { Refusal } from './server.ts';
import { inField } from './thinking-forms.ts';

function refuse(message: string, status = 400, type = 'invalid_request_error'): Refusal {
  return new Refusal(status, { error: { message, type } });
}

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refuse('Invalid Authentication', 401, 'invalid_authentication_error'),
  402: () => refuse('Your account is suspended.', 429, 'exceeded_current_quota_error'),
  429: () => refuse('Your account reached max request', 429, 'rate_limit_reached_error'),
  500: () => refuse('Internal error', 500, 'server_error'),
  529: () => refuse('The engine is currently overloaded', 429, 'engine_overloaded_error'),
  long: () => refuse('Invalid request: Your request exceeded model token limit: 1048576'),
  filter: () => refuse('The request was rejected as high risk', 400, 'content_filter'),
};

const isK3 = ({ model }: ChatBody): boolean => model.startsWith('kimi-k3');
const thinks = ({ thinking }: ChatBody): boolean => thinking?.type !== 'disabled';

function check(body: ChatBody): void {
  const always = isK3(body) || body.model.includes('k2.7');
  if (always && !thinks(body)) {
    throw refuse('invalid thinking: only type enabled is allowed for this model');
  }
  const effort = body.reasoning_effort;
  const efforts = ['low', 'medium', 'high', 'xhigh', 'max'];
  if (isK3(body) && effort != null && !efforts.includes(effort)) {
    throw refuse(`invalid reasoning_effort: ${effort}`);
  }
  const fixed = { temperature: thinks(body) ? 1 : 0.6, top_p: 0.95, n: 1 };
  const values = { ...fixed, presence_penalty: 0, frequency_penalty: 0 };
  for (const [name, value] of Object.entries(values)) {
    if (body[name] == null || body[name] === value) continue;
    throw refuse(`invalid ${name}: only ${value} is allowed for this model`);
  }
  if (!isK3(body) && thinks(body) && body.tool_choice === 'required') {
    throw refuse("tool_choice 'required' is incompatible with thinking enabled");
  }
  const lost = callTurnWithout(body, (turn) => !turn.reasoning_content);
  if (thinks(body) && lost !== -1) {
    throw refuse(
      `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${lost}`,
    );
  }
  checkNames(body, /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/, (name) => {
    return refuse(`Invalid request: function name is invalid: ${name}`);
  });
  const addresses = partsOf(body, 'image_url').map((part) => part.image_url?.url ?? '');
  if (addresses.some((url) => !/^(data:|ms:)/.test(url))) throw refuse('unsupported image url');
  const stops = stopsOf(body);
  if (stops.length > 5 || stops.some((stop) => Buffer.byteLength(stop) > 32)) {
    throw refuse('invalid stop: at most 5 sequences of 32 bytes');
  }
}

/** The vendor. */
export const moonshot = chatVendor({
  unknownPath: () =>
    refuse('The requested resource was not found', 404, 'resource_not_found_error'),
  faults: FAULTS,
  check,
  thinks,
  thinking: inField('reasoning_content'),
  prefill: (body) => (body.messages.at(-1)?.partial === true ? prefillOf(body) : ''),
  usage: (counts) => {
    const { prompt_tokens_details: _, ...usage } = usual(counts);
    return { ...usage, cached_tokens: counts.cached };
  },
});
