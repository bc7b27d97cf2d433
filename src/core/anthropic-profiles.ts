// Anthropic's models by generation. Each differs in what it refuses about thinking, forced tools,
// sampling and prefilled answers.
// Sources: docs.claude.com ("What's new", "Preserved thinking") and the types of @anthropic-ai/sdk
// 1.14, 2026-11-28.

import { wordsOf } from './effort.ts';
import { DEFAULT_PROFILE, type MessagesProfile } from './profile.ts';

/** Opus 4.7 and 4.8, and what the later generations have in common. */
export const ANTHROPIC: MessagesProfile = {
  ...DEFAULT_PROFILE.messages,
  // Closing the connection stops the generation, and what was made is billed.
  closing: 'stops',
  // Models since Opus 4.7 see larger images; those before are counted too high, never too low.
  imageTokens: 'large_area',
  // Models since Opus 4.7 answer 400 to temperature, top_p and top_k with any value.
  sampling: 'omit',
  // Schemas outside the rules of its switch go into the prompt; it refuses them.
  jsonSchema: 'send',
  // The same models refuse budgets; those before 4.6, and Haiku 4.5, know nothing else.
  thinkingSwitch: 'adaptive',
  // "The conversation must end with a user message", since 4.6.
  prefill: 'bridge',
  // Its models are trained on them.
  typedTools: 'send',
};

/** Since 4.5 schemas have a switch; budgets are the only way to think. */
export const ANTHROPIC_4_5: MessagesProfile = {
  ...DEFAULT_PROFILE.messages,
  closing: 'stops',
  jsonSchema: 'send',
  typedTools: 'send',
};

/** The last ones that take a temperature; `xhigh` came later. */
export const ANTHROPIC_4_6: MessagesProfile = {
  ...ANTHROPIC,
  imageTokens: 'area',
  sampling: 'one',
  effortWords: { ...wordsOf(['low', 'medium', 'high', 'max']), off: '' },
};

/** Opus 5 and Sonnet 5 think by default, and refuse a forced tool while they do. */
export const ANTHROPIC_5: MessagesProfile = { ...ANTHROPIC, forcedChoice: 'disable_thinking' };

/** Always thinks, and takes a forced tool all the same. */
export const ANTHROPIC_FABLE_5: MessagesProfile = {
  ...ANTHROPIC,
  thinkingOff: 'lowest',
  effortWords: wordsOf(['low', 'medium', 'high', 'xhigh', 'max']),
  forcedChoice: 'send',
};

/** Opus 5.5, Fable and Mythos 5.1 and 5.2: always think, and refuse a forced tool. */
export const ANTHROPIC_5_5: MessagesProfile = {
  ...ANTHROPIC_FABLE_5,
  forcedChoice: 'instruct',
  thinkingBinding: 'drop_block',
};

/** `between_tools` is the least thinking that it takes. */
export const ANTHROPIC_SONNET_5_5: MessagesProfile = {
  ...ANTHROPIC_5_5,
  thinkingOff: 'between_tools',
};

/** Thinking can be turned off, and is bound to its conversation. */
export const ANTHROPIC_HAIKU_5_5: MessagesProfile = {
  ...ANTHROPIC_5,
  thinkingBinding: 'drop_block',
};

/** Microsoft Foundry: the same models and rules behind another header. */
export const AZURE: MessagesProfile = { ...ANTHROPIC, credential: 'api-key' };

/** Amazon's addresses for this format, with a key of Bedrock. They fetch no images. */
export const BEDROCK: MessagesProfile = { ...ANTHROPIC, credential: 'bearer', imageUrls: 'data' };

/** Google's addresses. Sources: the Vertex page of docs.claude.com and @anthropic-ai/vertex-sdk 1.1. */
export const VERTEX: MessagesProfile = {
  ...BEDROCK,
  address: 'vertex',
  version: 'vertex-2023-10-16',
  // The switch needs the permission of each organization, for each model.
  jsonSchema: 'prompt',
};
