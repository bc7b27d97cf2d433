// How an upstream is told whether and how much to think. There is no common spelling, so each one is
// a value of the profile. Called by the request writer, and by the dialect to know how to read the
// answer. A model that cannot reason is told nothing.

import type { GenerationRequest, Reasoning, Turn } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import type { UpstreamCall } from '../../format.ts';
import type { Members } from '../extra-body.ts';
import { isForced, offeredTools } from './tool-choice.ts';
import { isContinued } from './turns.ts';

/** Where nothing is said, a model that can reason is taken to do so. */
export function isThinking(request: GenerationRequest, call: UpstreamCall): boolean {
  return call.reasons && request.reasoning !== 'off';
}

/**
 * The request as it can be asked of this upstream: where thinking excludes something else that was
 * asked for, thinking gives way. It is a wish; a tool that must be called is a promise.
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
    (hasTools && isForced(request.toolChoice) && profile.forcedChoice === 'without_thinking') ||
    (isContinued(turns) && profile.prefill === 'without_thinking');
  return call.reasons && isExcluded ? { ...request, reasoning: 'off' } : request;
}

/** Writes the members that ask for this depth of thinking. */
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
 * `on` asks for no depth where another member says that it is on. Where the word is all there is,
 * saying nothing would leave thinking off for models whose default is off, so `on` is `high` then:
 * what most models of such servers call their usual depth.
 */
function effortWord(reasoning: Reasoning, profile: ChatProfile): string | undefined {
  const { effortWords: words, reasoningSwitch } = profile;
  if (reasoning !== 'on') return words[reasoning] || undefined;
  return reasoningSwitch === 'effort' ? words.high || undefined : undefined;
}
