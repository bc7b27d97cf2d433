// A request as a Messages upstream takes it.

import type { UpstreamFailure } from '../../core/failure.ts';
import type { GenerationRequest } from '../../core/generation.ts';
import type { MessagesProfile } from '../../core/profile.ts';
import type { UpstreamCall } from '../format.ts';

export function writeMessagesRequest(
  _request: GenerationRequest,
  _call: UpstreamCall,
  _profile: MessagesProfile,
): string | UpstreamFailure {
  return { class: 'unsupported', detail: 'not written yet' };
}
