// Whether a refused request was refused for what the gateway chose: a parameter that the caller did
// not send, or a word of the profile. Decided by the parameter and the code that the upstream names
// (decision 0098), so no text of a caller decides.

import type { UpstreamSaid } from '../../core/failure.ts';
import type { GenerationRequest } from '../../core/generation.ts';
import type { UpstreamProfile } from '../../core/profile.ts';

/** The profile or the catalog sets them, whether or not the caller asked for their effect. */
const ALWAYS_OURS: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'store',
  'include',
  'prompt_cache_key',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'enable_thinking',
  'thinking_budget',
  'chat_template_kwargs',
  'anthropic_version',
  'output_config.effort',
  'extra_body',
]);

const BOUNDS: ReadonlySet<string> = new Set([
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
]);

/** The catalog allows more than the upstream does, or the profile chose the wrong name. */
const BOUND_CODES: ReadonlySet<string> = new Set([
  'integer_above_max_value',
  'unsupported_parameter',
]);

/** Parameters of callers, and whether this one sent it. */
const SENT: ReadonlyMap<string, (request: GenerationRequest) => boolean> = new Map([
  ['temperature', ({ temperature }) => temperature !== undefined],
  ['top_p', ({ topP }) => topP !== undefined],
  ['frequency_penalty', ({ frequencyPenalty }) => frequencyPenalty !== undefined],
  ['presence_penalty', ({ presencePenalty }) => presencePenalty !== undefined],
  ['stop', ({ stop }) => stop.length > 0],
  ['stop_sequences', ({ stop }) => stop.length > 0],
  ['tools', ({ tools }) => tools.length > 0],
  ['tool_choice', ({ tools }) => tools.length > 0],
  ['parallel_tool_calls', ({ tools }) => tools.length > 0],
  ['response_format', ({ json }) => json],
  ['verbosity', ({ verbosity }) => verbosity !== undefined],
] satisfies [string, (request: GenerationRequest) => boolean][]);

/** The name of the parameter that the gateway chose and the upstream refuses, if it names one. */
export function chosenParameter(
  { code = '', param }: UpstreamSaid,
  request: GenerationRequest,
  profile: UpstreamProfile,
): string | undefined {
  if (param === undefined) return undefined;
  const [name = ''] = /^[a-z_]{1,40}/.exec(param) ?? [];
  const path = ALWAYS_OURS.has(param) ? param : name;
  if (ALWAYS_OURS.has(path)) return path;
  if (BOUNDS.has(name)) {
    return request.maxOutputTokens === undefined || BOUND_CODES.has(code) ? name : undefined;
  }
  const isSent = SENT.get(name);
  const isOurs = isSent === undefined ? name in profile.extraBody : !isSent(request);
  return isOurs ? name : undefined;
}
