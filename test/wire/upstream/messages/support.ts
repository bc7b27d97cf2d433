// Turns, requests and profiles for the tests of the Messages dialect, and its decoder run over
// bytes. Shared by the tests of this folder.

import type {
  AssistantTurn,
  GenerationRequest,
  SignedThinking,
  SystemTurn,
  ToolTurn,
} from '../../../../src/core/generation.ts';
import type { MessagesProfile } from '../../../../src/core/profile.ts';
import type { UpstreamCall } from '../../../../src/wire/format.ts';
import { messagesDialect } from '../../../../src/wire/upstream/messages/dialect.ts';
import { writeMessagesRequest } from '../../../../src/wire/upstream/messages/request.ts';
import { assistant, requestWith } from '../../../support/request.ts';
import { type Decoded, decode } from '../support.ts';

export { assistant, picture, user } from '../../../support/request.ts';

/** The one with the most rules of its own. */
const PROFILE: MessagesProfile = {
  dialect: 'messages',
  credential: 'x-api-key',
  address: 'messages',
  version: '2023-06-01',
  systemInMiddle: 'fold',
  closing: 'stops',
  stopMax: 16,
  stopWhenReasoning: 'send',
  blankStops: 'hold',
  toolIds: 'word',
  imageUrls: 'any',
  imageTokens: 'area',
  thinkingShown: 'part',
  thinkingOff: 'send',
  effortWords: { off: '', low: 'low', high: 'high', max: 'max' },
  cacheKey: 'omit',
  forcedChoice: 'auto_when_thinking',
  parallelToolCalls: 'send',
  emptyToolResult: '',
  jsonSchema: 'prompt',
  unreportedCacheWrites: 'ignore',
  extraBody: {},
  sampling: 'one',
  thinkingSwitch: 'budget',
  thinkingBudgets: { low: 4_096, high: 16_384, max: 32_768 },
  thinkingHistory: 'signed',
  thinkingBinding: 'none',
  contentParts: 'always',
  prefill: 'send',
  // Marks are tested by themselves.
  cacheMarks: 'none',
  typedTools: 'function',
};

export const CALL: UpstreamCall = {
  upstream: 'here',
  model: 'upstream-model',
  maxOutputTokens: 4_096,
  stream: false,
  reasons: true,
};

export const system = (text: string): SystemTurn => ({ role: 'system', text });

/** An assistant turn that calls a tool, once for each id. */
export const calling = (ids: readonly string[], more: Partial<AssistantTurn> = {}): AssistantTurn =>
  assistant('', {
    toolCalls: ids.map((id) => ({ id, name: 'f', arguments: '{"a":1}' })),
    ...more,
  });

export const result = (toolCallId: string, text: string, isError = false): ToolTurn => ({
  role: 'tool',
  toolCallId,
  text,
  isError,
});

export const signedBy = (upstream: string): SignedThinking => ({
  upstream,
  blocks: [
    { kind: 'thinking', text: 'hm', signature: 'signed' },
    { kind: 'redacted', data: 'sealed' },
  ],
});

export const SIGNED_BLOCKS = [
  { type: 'thinking', thinking: 'hm', signature: 'signed' },
  { type: 'redacted_thinking', data: 'sealed' },
];

/** The JSON text that the upstream gets, or the failure. */
export function write(
  request: Partial<GenerationRequest>,
  profile: Partial<MessagesProfile> = {},
  call: Partial<UpstreamCall> = {},
) {
  return writeMessagesRequest(
    requestWith(request),
    { ...CALL, ...call },
    { ...PROFILE, ...profile },
  );
}

/** The same, parsed; a failure is an error of the test. */
export function written(...parameters: Parameters<typeof write>): Record<string, unknown> {
  const text = write(...parameters);
  if (typeof text !== 'string') throw new Error(text.detail);
  return JSON.parse(text);
}

/** Reads the body of a whole answer. */
export const readMessagesResponse = (body: string) => messagesDialect(PROFILE).response(body);

/** Decodes a stream whose bytes arrive in these reads. */
export const decodeReads = (reads: readonly Uint8Array[]): Decoded =>
  decode(reads, messagesDialect(PROFILE).stream);
