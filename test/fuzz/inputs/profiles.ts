// Profiles of upstreams: the built-in ones, and those with any of their fields changed.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BUILT_IN_PROFILES } from '../../../src/core/built-in-profiles.ts';
import type {
  ChatProfile,
  MessagesProfile,
  ResponsesProfile,
  UpstreamProfile,
} from '../../../src/core/profile.ts';
import type { UpstreamDialect } from '../../../src/wire/format.ts';
import { chatDialect } from '../../../src/wire/upstream/chat/dialect.ts';
import { messagesDialect } from '../../../src/wire/upstream/messages/dialect.ts';
import { responsesDialect } from '../../../src/wire/upstream/responses/dialect.ts';

/** A built-in profile by name, with changed fields: what a catalog can say. */
export type ProfileChoice = {
  readonly name: string;
  readonly fields: Readonly<Partial<ChatProfile>>;
};

const words = fc.record({
  off: fc.constantFrom('', 'none', 'low'),
  low: fc.constantFrom('', 'low'),
  high: fc.constantFrom('', 'high'),
  max: fc.constantFrom('', 'max', 'high'),
});

const shared = {
  systemInMiddle: fc.constantFrom('fold', 'keep'),
  stopMax: fc.constantFrom(0, 1, 4, 16),
  stopWhenReasoning: fc.constantFrom('send', 'hold'),
  blankStops: fc.constantFrom('send', 'hold'),
  toolIds: fc.constantFrom('any', 'word', 'nine'),
  imageUrls: fc.constantFrom('public', 'any', 'data'),
  imageTokens: fc.constantFrom('tiles', 'patches', 'area', 'large_area'),
  thinkingShown: fc.constantFrom('all', 'part'),
  thinkingOff: fc.constantFrom('send', 'lowest', 'between_tools'),
  effortWords: words,
  cacheKey: fc.constantFrom('send', 'omit'),
  parallelToolCalls: fc.constantFrom('send', 'omit'),
  emptyToolResult: fc.constantFrom('', ' ', '(no output)'),
  jsonSchema: fc.constantFrom('prompt', 'send', 'both'),
  extraBody: fc.constantFrom({}, { provider: { order: ['a'] } }, { model: 'other', n: 2 }),
} as const;

const chatFields: fc.Arbitrary<Partial<ChatProfile>> = fc.record(
  {
    ...shared,
    maxTokensField: fc.constantFrom('max_tokens', 'max_completion_tokens'),
    sampling: fc.constantFrom('send', 'omit_when_thinking', 'omit'),
    forcedChoice: fc.constantFrom(
      'send',
      'required',
      'auto',
      'auto_when_thinking',
      'without_thinking',
      'by_name',
      'instruct',
    ),
    forbiddenChoice: fc.constantFrom('send', 'drop_tools'),
    reasoningField: fc.constantFrom('reasoning_content', 'reasoning', 'parts', 'details', 'none'),
    lostReasoning: fc.constantFrom('omit', 'empty', 'space'),
    thinkTags: fc.constantFrom('ignore', 'split', 'opened'),
    reasoningSwitch: fc.constantFrom('thinking', 'effort', 'template', 'object', 'none'),
    thinkingWithTools: fc.constantFrom('send', 'off'),
    contentParts: fc.constantFrom('images', 'always', 'never'),
    contentBesideCalls: fc.constantFrom('null', 'empty'),
    turnOrder: fc.constantFrom('any', 'alternate'),
    userAfterTool: fc.constantFrom('send', 'bridge'),
    prefill: fc.constantFrom(
      'send',
      'without_thinking',
      'continue_final_message',
      'prefix',
      'partial',
      'bridge',
    ),
    speakerNames: fc.constantFrom('send', 'fold'),
    streamOptions: fc.constantFrom('send', 'omit'),
    jsonMode: fc.constantFrom('send', 'omit'),
    argumentPieces: fc.constantFrom('parts', 'growing'),
    callSignature: fc.constantFrom('', 'skip'),
    verbosity: fc.constantFrom('send', 'omit'),
  },
  { requiredKeys: [] },
);

const messagesFields: fc.Arbitrary<Partial<MessagesProfile>> = fc.record(
  {
    ...shared,
    address: fc.constantFrom('messages', 'vertex'),
    version: fc.constantFrom('2023-06-01', '2026-10-21'),
    forcedChoice: fc.constantFrom(
      'send',
      'auto',
      'auto_when_thinking',
      'without_thinking',
      'disable_thinking',
      'instruct',
    ),
    contentParts: fc.constantFrom('always', 'never'),
    prefill: fc.constantFrom('send', 'bridge'),
    sampling: fc.constantFrom('send', 'one', 'omit'),
    thinkingSwitch: fc.constantFrom('budget', 'adaptive', 'type', 'none'),
    thinkingBudgets: fc.record({
      low: fc.constantFrom(1_024, 4_096),
      high: fc.constantFrom(1_024, 16_384),
      max: fc.constantFrom(1_024, 32_768),
    }),
    thinkingHistory: fc.constantFrom('signed', 'any', 'none'),
    thinkingBinding: fc.constantFrom('none', 'drop_block'),
    cacheMarks: fc.constantFrom('conversations', 'always', 'none'),
    typedTools: fc.constantFrom('send', 'function'),
  },
  { requiredKeys: [] },
);

const responsesFields: fc.Arbitrary<Partial<ResponsesProfile>> = fc.record(
  {
    ...shared,
    stopMax: fc.constant(0),
    sampling: fc.constantFrom('send', 'omit_when_thinking', 'omit'),
    forcedChoice: fc.constantFrom('send', 'auto', 'without_thinking', 'instruct'),
    reasoningSwitch: fc.constantFrom('effort', 'none'),
    reasoningSummary: fc.constantFrom('auto', 'omit'),
    reasoningHistory: fc.constantFrom('encrypted', 'text', 'none'),
    phases: fc.constantFrom('send', 'omit'),
    verbosity: fc.constantFrom('send', 'omit'),
    obfuscation: fc.constantFrom('off', 'omit'),
    store: fc.constantFrom('send', 'omit'),
    minOutputTokens: fc.constantFrom(1, 16),
    customTools: fc.constantFrom('send', 'function'),
  },
  { requiredKeys: [] },
);

const builtIns = [...BUILT_IN_PROFILES];

function named(dialect: UpstreamProfile['dialect']): fc.Arbitrary<string> {
  return fc.constantFrom(
    ...builtIns.filter(([, profile]) => profile.dialect === dialect).map(([name]) => name),
  );
}

/** Half of them as they are built in. */
export const profileChoice: fc.Arbitrary<ProfileChoice> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constantFrom(...BUILT_IN_PROFILES.keys()),
      fields: fc.constant({}),
    }),
  },
  fc.record({ name: named('chat'), fields: chatFields }),
  fc.record({ name: named('messages'), fields: messagesFields as fc.Arbitrary<object> }),
  fc.record({ name: named('responses'), fields: responsesFields as fc.Arbitrary<object> }),
);

export function profileOf({ name, fields }: ProfileChoice): UpstreamProfile {
  const profile = BUILT_IN_PROFILES.get(name);
  assert.ok(profile !== undefined, `there is no profile ${name}`);
  return { ...profile, ...fields } as UpstreamProfile;
}

export function codecOf(profile: UpstreamProfile): UpstreamDialect {
  switch (profile.dialect) {
    case 'chat':
      return chatDialect(profile);
    case 'messages':
      return messagesDialect(profile);
    case 'responses':
      return responsesDialect(profile);
  }
}
