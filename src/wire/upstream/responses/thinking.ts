// Writes whether and how much a Responses upstream should think. A model that cannot reason gets no
// such member.

import type { GenerationRequest, Reasoning } from '../../../core/generation.ts';
import type { ResponsesProfile } from '../../../core/responses-profile.ts';
import type { UpstreamCall } from '../../format.ts';
import { isForced } from './tools.ts';

/**
 * The depth to ask for: off if a forced tool excludes thinking, which is a preference where the
 * tool is a requirement.
 */
export function settleReasoning(
  request: GenerationRequest,
  profile: ResponsesProfile,
): Reasoning | undefined {
  const isExcluded = profile.forcedChoice === 'without_thinking' && isForced(request);
  return isExcluded ? 'off' : request.reasoning;
}

/** Whether the model may think: by default, and where thinking cannot be turned off. */
export function mayThink(
  reasoning: Reasoning | undefined,
  call: UpstreamCall,
  profile: ResponsesProfile,
): boolean {
  return call.reasons && (reasoning !== 'off' || profile.thinkingOff !== 'send');
}

/** The `reasoning` member. A summary is for a client that sees the thinking. */
export function writeReasoning(
  reasoning: Reasoning | undefined,
  isSeen: boolean,
  call: UpstreamCall,
  profile: ResponsesProfile,
): object | undefined {
  if (!call.reasons || profile.reasoningSwitch === 'none') return undefined;
  const effort = effortWord(reasoning, profile);
  const asksForSummary = profile.reasoningSummary === 'auto' && isSeen && reasoning !== 'off';
  if (effort === undefined && !asksForSummary) return undefined;
  return { effort, summary: asksForSummary ? 'auto' : undefined };
}

/** `on` is a depth here, because without one some models do not think. */
function effortWord(
  reasoning: Reasoning | undefined,
  { effortWords: words, thinkingOff }: ResponsesProfile,
): string | undefined {
  switch (reasoning) {
    case undefined:
      return undefined;
    case 'on':
      return words.high || undefined;
    case 'off':
      return (thinkingOff === 'send' ? words.off : words.low) || undefined;
    default:
      return words[reasoning] || undefined;
  }
}
