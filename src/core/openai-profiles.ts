// OpenAI's models at OpenAI and at Azure, by dialect and generation.
// Sources: the types of openai 7.59 and the model pages of platform.openai.com, 2026-11-28.

import { byEffort } from './effort.ts';
import { type ChatProfile, DEFAULT_PROFILE, type ResponsesProfile } from './profile.ts';

/** For OpenAI's models since GPT-5.1; its older models differ by single fields. */
export const OPENAI: ChatProfile = {
  ...DEFAULT_PROFILE.chat,
  // Closing the connection stops the generation, and what was made is billed.
  closing: 'stops',
  // Reasoning models refuse max_tokens; all models take the other name.
  maxTokensField: 'max_completion_tokens',
  // System messages are taken anywhere.
  systemInMiddle: 'keep',
  stopMax: 4,
  // Reasoning models refuse the parameter.
  stopWhenReasoning: 'hold',
  // Reasoning models refuse a temperature and top_p other than 1.
  sampling: 'omit_when_thinking',
  // Its models show no thinking here, so there is none to give back.
  reasoningField: 'none',
  thinkTags: 'ignore',
  // `max` is not a word of this API.
  ...byEffort('none', 'low', 'medium', 'high', 'xhigh'),
  jsonSchema: 'send',
  // Since GPT-5.4 tools need an effort of `none` on this API, even where no effort was asked for.
  thinkingWithTools: 'off',
  // Since GPT-5.6 a prefix is seldom found again without it.
  cacheKey: 'send',
  // Other models than those that reason take one value only.
  verbosity: 'send',
};

/** GPT-6 Astra, 6.1 Sol and 6.2 refuse `none`, and with it every tool on this API. */
export const OPENAI_CHAT_6: ChatProfile = {
  ...OPENAI,
  thinkingWithTools: 'send',
  ...byEffort('low', 'medium', 'high', 'xhigh'),
};

/** GPT-5.6 and later with an effort of `none`: GPT-6 Sol and Luna, 6.1 Terra. */
export const OPENAI_RESPONSES: ResponsesProfile = {
  ...DEFAULT_PROFILE.responses,
  closing: 'stops',
  ...byEffort('none', 'low', 'medium', 'high', 'xhigh', 'max'),
  // Refused by its reasoning models, and the others are sold over chat.
  sampling: 'omit',
  reasoningHistory: 'encrypted',
  // "Preserve and resend phase on all assistant messages": answers get worse without it.
  phases: 'send',
  verbosity: 'send',
  // Padding of each delta, which costs bytes and hides nothing behind TLS to us.
  obfuscation: 'off',
  cacheKey: 'send',
  // Since GPT-5.6 writes are billed, and many answers report none.
  unreportedCacheWrites: 'count',
  // A smaller bound is answered with 400.
  minOutputTokens: 16,
  // The only way to a grammar that is enforced.
  customTools: 'send',
};

/** GPT-5.4 and 5.5: `max` is a word since 5.6. */
export const OPENAI_5_4: ResponsesProfile = {
  ...OPENAI_RESPONSES,
  unreportedCacheWrites: 'ignore',
  ...byEffort('none', 'low', 'medium', 'high', 'xhigh'),
};

/** GPT-6 Astra, 6.1 Sol and 6.2: thinking cannot be turned off. */
export const OPENAI_6: ResponsesProfile = {
  ...OPENAI_RESPONSES,
  ...byEffort('low', 'medium', 'high', 'xhigh', 'max'),
};

/** The same services behind another header. */
export const AZURE: ChatProfile = { ...OPENAI, credential: 'api-key' };
export const AZURE_CHAT_6: ChatProfile = { ...OPENAI_CHAT_6, credential: 'api-key' };
export const AZURE_RESPONSES: ResponsesProfile = { ...OPENAI_RESPONSES, credential: 'api-key' };
export const AZURE_5_4: ResponsesProfile = { ...OPENAI_5_4, credential: 'api-key' };

/** `max` is not a word there. */
export const AZURE_6: ResponsesProfile = {
  ...OPENAI_6,
  credential: 'api-key',
  ...byEffort('low', 'medium', 'high', 'xhigh'),
};
