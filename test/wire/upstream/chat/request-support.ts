// A minimal request, sample turns, and the result of writing them for a profile. Shared by the
// tests of the chat-completions request writer.

import type { UpstreamFailure } from '../../../../src/core/failure.ts';
import type {
  AssistantTurn,
  GenerationRequest,
  ToolTurn,
  Turn,
  UserTurn,
} from '../../../../src/core/generation.ts';
import { type ChatProfile, DEFAULT_PROFILE } from '../../../../src/core/profile.ts';
import type { UpstreamCall } from '../../../../src/wire/format.ts';
import { chatDialect } from '../../../../src/wire/upstream/chat/dialect.ts';

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

export const TOOL_CALL = { id: 'call_1', name: 'f', arguments: '{"a":1}' };
export const user = (...texts: string[]): UserTurn => ({
  role: 'user',
  parts: texts.map((text) => ({ kind: 'text', text })),
});
export const picture = (url: string): UserTurn => ({
  role: 'user',
  parts: [{ kind: 'image', url }],
});
export const assistant = (text: string, members: Partial<AssistantTurn> = {}): AssistantTurn => ({
  role: 'assistant',
  reasoning: '',
  text,
  toolCalls: [],
  ...members,
});
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
