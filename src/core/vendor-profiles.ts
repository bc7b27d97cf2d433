// Vendors of their own models, other than OpenAI and Anthropic, and hosts of open models with rules
// of their own.

import { byEffort, wordsOf } from './effort.ts';
import {
  type ChatProfile,
  DEFAULT_PROFILE,
  type MessagesProfile,
  type ResponsesProfile,
} from './profile.ts';

const { chat: CHAT, messages: MESSAGES, responses: RESPONSES } = DEFAULT_PROFILE;

export const DEEPSEEK: ChatProfile = {
  ...CHAT,
  closing: 'stops',
  // "Thinking mode does not support this tool_choice": it is the forced tool that was asked for.
  forcedChoice: 'without_thinking',
  // While it thinks, it answers 400 when an assistant turn comes back without the field.
  lostReasoning: 'empty',
  // Thinking has always come in its own field here, in full.
  thinkTags: 'ignore',
  thinkingShown: 'all',
};

export const DEEPSEEK_MESSAGES: MessagesProfile = {
  ...MESSAGES,
  closing: 'stops',
  // Thinking is not summarised here.
  thinkingShown: 'all',
  // Temperature and top_p are taken, and without effect while it thinks.
  sampling: 'send',
  // Budgets are ignored, and the depth is an effort beside the type.
  thinkingSwitch: 'type',
  // While it thinks, tool turns are answered with 400 without their thinking, signed or not.
  thinkingHistory: 'any',
  // It caches every prompt by itself and ignores the marks.
  cacheMarks: 'none',
};

/** Gemini's chat-compatible endpoint (ai.google.dev/gemini-api/docs/openai, 2026-11-28). */
export const GEMINI: ChatProfile = {
  ...CHAT,
  closing: 'stops',
  // Gemini 3 and 4 always think; unknown members such as `thinking` are answered with 400.
  ...byEffort('low', 'medium', 'high'),
  // Thinking returns as the signatures of calls alone.
  reasoningField: 'none',
  // Accepted in place of a signature that is lost.
  callSignature: 'skip_thought_signature_validator',
  jsonSchema: 'send',
  speakerNames: 'fold',
  // A conversation that ends with a user turn is safe; the other way is not documented.
  prefill: 'bridge',
  stopMax: 5,
};

/** Gemini 3.8 Flash takes no temperature. */
export const GEMINI_FLASH: ChatProfile = { ...GEMINI, sampling: 'omit' };

/** Gemini 4 Hydrogen has one more depth. */
export const GEMINI_HYDROGEN: ChatProfile = {
  ...GEMINI,
  ...byEffort('low', 'medium', 'high', 'xhigh'),
};

/** Kimi K2.5 and K2.6 (platform.kimi.ai, 2026-11-28). */
export const MOONSHOT: ChatProfile = {
  ...CHAT,
  closing: 'stops',
  // "invalid temperature: only 1 is allowed for this model".
  sampling: 'omit',
  // `required` is refused; a tool by name is taken.
  forcedChoice: 'by_name',
  // No words for depths.
  effortWords: wordsOf([]),
  // "thinking is enabled but reasoning_content is missing in assistant tool call message".
  lostReasoning: 'space',
  thinkTags: 'ignore',
  thinkingShown: 'all',
  // Addresses are refused.
  imageUrls: 'data',
  // Five of at most 32 bytes, and longer ones are refused.
  stopMax: 0,
  prefill: 'partial',
  cacheKey: 'send',
};

/** Kimi K2.7 always thinks, and has no switch. */
export const MOONSHOT_K2_7: ChatProfile = {
  ...MOONSHOT,
  reasoningSwitch: 'none',
  thinkingOff: 'lowest',
};

/** Kimi K3 and K3.1 always think, and take every forced tool. */
export const MOONSHOT_K3: ChatProfile = {
  ...MOONSHOT_K2_7,
  forcedChoice: 'send',
  ...byEffort('low', 'high', 'max'),
  jsonSchema: 'send',
};

/** GLM-5.3 (docs.z.ai and docs.bigmodel.cn, 2026-11-28). */
export const ZAI: ChatProfile = {
  ...CHAT,
  ...byEffort('low', 'high', 'max'),
  // tool_choice takes `auto` alone.
  forcedChoice: 'instruct',
  forbiddenChoice: 'drop_tools',
  stopMax: 1,
  thinkingShown: 'all',
  // Not documented.
  prefill: 'bridge',
  extraBody: {
    // Without it a call is silent until it is whole.
    tool_stream: true,
    // Otherwise the server drops the thinking of earlier turns.
    thinking: { type: 'enabled', clear_thinking: false },
  },
};

/** GLM-4.6 to 5.1: thinking has a switch and no depth. */
export const ZAI_4_6: ChatProfile = {
  ...ZAI,
  reasoningSwitch: 'thinking',
  effortWords: wordsOf([]),
  thinkingOff: 'send',
};

/** GLM-5.2 has two depths. */
export const ZAI_5_2: ChatProfile = {
  ...ZAI_4_6,
  effortWords: { ...wordsOf(['high', 'max']), off: '' },
};

/** MiniMax M3.1 (platform.minimax.io, 2026-11-28). */
export const MINIMAX: ChatProfile = {
  ...CHAT,
  maxTokensField: 'max_completion_tokens',
  ...byEffort('low', 'medium', 'high', 'max'),
  thinkingShown: 'all',
  // Thinking must return in the form in which it came.
  reasoningField: 'details',
  // Otherwise thinking is text between tags.
  extraBody: { reasoning_split: true },
  // None of these are documented.
  forcedChoice: 'instruct',
  forbiddenChoice: 'drop_tools',
  parallelToolCalls: 'omit',
  jsonMode: 'omit',
  prefill: 'bridge',
};

/** M3 has a switch whose words differ by endpoint, so it is left to think. */
export const MINIMAX_M3: ChatProfile = { ...MINIMAX, reasoningSwitch: 'none' };

export const MINIMAX_MESSAGES: MessagesProfile = {
  ...MESSAGES,
  thinkingShown: 'all',
  // It always thinks, and ignores the switch.
  thinkingSwitch: 'none',
  thinkingOff: 'lowest',
  thinkingHistory: 'any',
  forcedChoice: 'instruct',
  prefill: 'bridge',
};

/** Qwen 3.7 and later at DashScope (help.aliyun.com, 2026-11-28). */
export const QWEN: ChatProfile = {
  ...CHAT,
  ...byEffort('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  // A forced tool is refused while the model thinks.
  forcedChoice: 'without_thinking',
  thinkingShown: 'all',
  jsonSchema: 'send',
  // Partial mode is for models that do not think (help.aliyun.com, partial mode, 2026-11-28).
  prefill: 'bridge',
  // Otherwise the thinking of earlier turns is dropped.
  extraBody: { preserve_thinking: true },
};

/** Grok 4.5 to 4.7 (docs.x.ai, 2026-11-28). Chat discards thinking between turns. */
export const XAI: ResponsesProfile = {
  ...RESPONSES,
  closing: 'stops',
  ...byEffort('low', 'medium', 'high', 'xhigh'),
  reasoningHistory: 'encrypted',
  cacheKey: 'send',
  // Safe where the least is not documented.
  minOutputTokens: 16,
};

/** Grok 4.3: thinking can be turned off, and `xhigh` is not a word. */
export const XAI_4_3: ResponsesProfile = { ...XAI, ...byEffort('none', 'low', 'medium', 'high') };

/** Grok 4.20 refuses the member. */
export const XAI_4_20: ResponsesProfile = { ...XAI, reasoningSwitch: 'none' };

export const XAI_CHAT: ChatProfile = {
  ...CHAT,
  closing: 'stops',
  ...byEffort('low', 'medium', 'high', 'xhigh'),
  reasoningField: 'none',
  // Reasoning models refuse stop sequences.
  stopWhenReasoning: 'hold',
  jsonSchema: 'send',
};

/** Medium 3.5 and Small 4 (docs.mistral.ai, 2026-11-28). */
export const MISTRAL: ChatProfile = {
  ...CHAT,
  // Thinking comes as parts of the content, in full.
  thinkingShown: 'all',
  // Ids of any other shape are answered with 400.
  toolIds: 'nine',
  // `reasoning_content` in a message is answered with 422, as every unknown member is.
  reasoningField: 'parts',
  reasoningSwitch: 'effort',
  // The two words that its reasoning models take.
  effortWords: { off: 'none', low: 'high', high: 'high', max: 'high' },
  // Answered with 422 in a message, as every unknown member is.
  speakerNames: 'fold',
  jsonSchema: 'send',
  // "Unexpected role 'user' after role 'tool'" is the answer otherwise.
  userAfterTool: 'bridge',
  // A last assistant turn without the mark is answered with 400.
  prefill: 'prefix',
  // Answered with 422; usage comes unasked.
  streamOptions: 'omit',
};

/** Large 4 always thinks, in three depths. */
export const MISTRAL_LARGE_4: ChatProfile = { ...MISTRAL, ...byEffort('low', 'medium', 'high') };

/** gpt-oss at Groq (console.groq.com/docs, 2026-11-28). Unknown members are answered with 400. */
export const GROQ: ChatProfile = {
  ...CHAT,
  ...byEffort('low', 'medium', 'high'),
  reasoningField: 'reasoning',
  thinkingShown: 'all',
  stopMax: 4,
  jsonSchema: 'both',
  prefill: 'bridge',
};

/** Qwen at Groq: thinking is on or off. */
export const GROQ_QWEN: ChatProfile = {
  ...GROQ,
  effortWords: { off: 'none', low: 'default', high: 'default', max: 'default' },
  thinkingOff: 'send',
};

/** gpt-oss at Cerebras (inference-docs.cerebras.ai, 2026-11-28). */
export const CEREBRAS: ChatProfile = { ...GROQ, speakerNames: 'fold' };

/** Thinking of Qwen and GLM can be turned off at Cerebras. */
export const CEREBRAS_OPEN: ChatProfile = {
  ...CEREBRAS,
  ...byEffort('none', 'low', 'medium', 'high'),
};
