// A whole answer of a Messages upstream.

import type { UpstreamFailure } from '../../core/failure.ts';
import type { Answer } from '../../core/generation.ts';

export function readMessagesResponse(_body: string): Answer | UpstreamFailure {
  return { class: 'malformed', detail: 'not written yet' };
}
