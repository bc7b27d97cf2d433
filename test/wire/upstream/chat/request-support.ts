// A minimal request, sample turns, and the result of writing them for a profile. Shared by the
// tests of the chat-completions request writer.

import type { UpstreamFailure } from '../../../../src/core/failure.ts';
import type { GenerationRequest, ToolTurn, Turn } from '../../../../src/core/generation.ts';
import { type ChatProfile, DEFAULT_PROFILE } from '../../../../src/core/profile.ts';
import type { UpstreamCall } from '../../../../src/wire/format.ts';
import { chatDialect } from '../../../../src/wire/upstream/chat/dialect.ts';
import { assistant, requestWith } from '../../../support/request.ts';

export { assistant, picture, user } from '../../../support/request.ts';

export const REQUEST = requestWith();

export const CALL: UpstreamCall = {
  upstream: 'up',
  model: 'up-1',
  maxOutputTokens: 100,
  stream: false,
  reasons: true,
};

export const TOOL_CALL = { id: 'call_1', name: 'f', arguments: '{"a":1}' };
export const called = assistant('', { toolCalls: [TOOL_CALL] });
export const result = (text: string): ToolTurn => ({
  role: 'tool',
  toolCallId: 'call_1',
  text,
  isError: false,
});

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
