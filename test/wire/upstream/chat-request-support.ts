// A least request and what becomes of it for an upstream of some profile. Shared by the tests of the
// chat-completions request writer.

import type { UpstreamFailure } from '../../../src/core/failure.ts';
import type { GenerationRequest, Turn } from '../../../src/core/generation.ts';
import { type ChatProfile, DEFAULT_PROFILE } from '../../../src/core/profile.ts';
import type { UpstreamCall } from '../../../src/wire/format.ts';
import { chatDialect } from '../../../src/wire/upstream/chat.ts';

export const REQUEST: GenerationRequest = {
  model: 'swift-1',
  system: '',
  turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
  stop: [],
  tools: [],
  json: false,
  stream: false,
  includeUsage: true,
};

export const CALL: UpstreamCall = {
  upstream: 'up',
  model: 'up-1',
  maxOutputTokens: 100,
  stream: false,
  reasons: true,
};

/** The body as the upstream parses it, or the failure that the profile makes of the request. */
export function bodyFor(
  profile: Partial<ChatProfile>,
  request: Partial<GenerationRequest> = {},
  call: Partial<UpstreamCall> = {},
): Readonly<Record<string, unknown>> | UpstreamFailure {
  const dialect = chatDialect({ ...DEFAULT_PROFILE.chat, ...profile });
  const written = dialect.request({ ...REQUEST, ...request }, { ...CALL, ...call });
  return typeof written === 'string' ? JSON.parse(written) : written;
}

export function messagesFor(
  profile: Partial<ChatProfile>,
  turns: readonly Turn[],
  call: Partial<UpstreamCall> = {},
): unknown {
  return Reflect.get(bodyFor(profile, { turns }, call), 'messages');
}
