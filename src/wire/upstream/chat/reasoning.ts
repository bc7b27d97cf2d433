// Writes whether and how much an upstream should think. There is no common syntax, so each one is a
// value of the profile. The dialect also uses it to decide how to read the answer. A model that
// cannot reason gets no such member.

import type { GenerationRequest, Reasoning, Turn } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { isForced } from '../../../core/tool-instruction.ts';
import type { UpstreamCall } from '../../format.ts';
import type { Members } from '../extra-body.ts';
import { offeredTools } from './tool-choice.ts';
import { isContinued } from './turns.ts';

/** By default, a model that can reason is assumed to do so. */
export function isThinking(request: GenerationRequest, call: UpstreamCall): boolean {
  return call.reasons && request.reasoning !== 'off';
}

/**
 * Adapts the request to this upstream: if thinking excludes something else that was requested,
 * thinking is turned off. Thinking is a preference; a forced tool is a requirement. A model that
 * always thinks gets its lowest depth instead.
 */
export function settleReasoning(
  request: GenerationRequest,
  turns: readonly Turn[],
  call: UpstreamCall,
  profile: ChatProfile,
): GenerationRequest {
  const hasTools = offeredTools(request, profile).length > 0;
  const isExcluded =
    (hasTools && profile.thinkingWithTools === 'off') ||
    (isForced(request) && profile.forcedChoice === 'without_thinking') ||
    (isContinued(turns) && profile.prefill === 'without_thinking');
  if (!call.reasons) return request;
  if (isExcluded && profile.thinkingOff === 'send') return { ...request, reasoning: 'off' };
  const isLowest = request.reasoning === 'off' && profile.thinkingOff !== 'send';
  return isLowest ? { ...request, reasoning: 'low' } : request;
}

/** Writes the members that request this depth of thinking. */
export function writeReasoning(
  body: Members,
  request: GenerationRequest,
  call: UpstreamCall,
  profile: ChatProfile,
): void {
  const { reasoning } = request;
  if (!call.reasons || reasoning === undefined) return;
  const effort = effortWord(reasoning, profile);
  const thinks = reasoning !== 'off';
  switch (profile.reasoningSwitch) {
    case 'thinking':
      body['thinking'] = { type: thinks ? 'enabled' : 'disabled' };
      body['reasoning_effort'] = effort;
      return;
    case 'effort':
      body['reasoning_effort'] = effort;
      return;
    case 'template':
      body['chat_template_kwargs'] = { enable_thinking: thinks };
      body['reasoning_effort'] = effort;
      return;
    case 'object':
      body['reasoning'] = effort === undefined ? { enabled: thinks } : { effort };
      return;
    case 'none':
      return;
  }
}

/**
 * `on` sends no depth if another member turns thinking on. If the effort is the only switch,
 * omitting it would leave thinking off for models whose default is off, so `on` becomes `high`,
 * which most models of such servers use as their normal depth.
 */
function effortWord(reasoning: Reasoning, profile: ChatProfile): string | undefined {
  const { effortWords: words, reasoningSwitch } = profile;
  if (reasoning !== 'on') return words[reasoning] || undefined;
  return reasoningSwitch === 'effort' ? words.high || undefined : undefined;
}
