// The profiles that a catalog can name without defining them: one entry per server, with the reason
// beside each value that differs from its dialect's default. A test compares the documented table
// with this one.

import { type ChatProfile, DEFAULT_PROFILE, type UpstreamProfile } from './profile.ts';

const { chat: CHAT, messages: MESSAGES } = DEFAULT_PROFILE;

/** For OpenAI's models since GPT-5.1; its older models differ by single fields. */
const OPENAI: ChatProfile = {
  ...CHAT,
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
  reasoningSwitch: 'effort',
  // `max` is not a word of this API.
  effortWords: { off: 'none', low: 'low', high: 'high', max: 'xhigh' },
  jsonSchema: 'send',
  // Since GPT-5.4 tools need an effort of `none` on this API, even where no effort was asked for.
  thinkingWithTools: 'off',
};

const VLLM: ChatProfile = {
  ...CHAT,
  // It fetches an address from inside of the operator's network, and customers choose it.
  imageUrls: 'data',
  // Open models: all that they think is in the answer.
  thinkingShown: 'all',
  // Its own name since 0.16; newer versions read the other one as well.
  reasoningField: 'reasoning',
  // Templates have a switch of their own; versions before 2026 do not derive it from the effort.
  reasoningSwitch: 'template',
  // Other words are refused by versions before May 2026, and for gpt-oss by all of them.
  effortWords: { off: '', low: 'low', high: 'high', max: 'high' },
  // Most templates ignore the member.
  speakerNames: 'fold',
  // It constrains the answer and shows the model nothing of the schema.
  jsonSchema: 'both',
  // Without the flag the template closes the turn and begins another.
  prefill: 'continue_final_message',
};

const LLAMA_CPP: ChatProfile = {
  ...CHAT,
  // As for vLLM.
  imageUrls: 'data',
  // Open models: all that they think is in the answer.
  thinkingShown: 'all',
  // A choice by name counts as `auto`, with no more than a warning in the server's log.
  forcedChoice: 'required',
  // The effort reaches templates only since August 2026, and turns thinking off only in part.
  reasoningSwitch: 'template',
  // Words go into the prompt as they are; templates know no others.
  effortWords: { off: '', low: 'low', high: 'high', max: 'high' },
  // The member is not read.
  speakerNames: 'fold',
  // "Assistant response prefill is incompatible with enable_thinking" is the answer otherwise.
  prefill: 'without_thinking',
};

const OLLAMA: ChatProfile = {
  ...CHAT,
  // Open models: all that they think is in the answer.
  thinkingShown: 'all',
  // It never fetches an address: "image URLs are not currently supported".
  imageUrls: 'data',
  // tool_choice is read by no version so far: a forced tool is a wish, and `none` forbids nothing.
  forcedChoice: 'auto',
  forbiddenChoice: 'drop_tools',
  // Not one of the fields that it reads.
  parallelToolCalls: 'omit',
  speakerNames: 'fold',
  // Since 0.5 it constrains the answer and shows the model nothing of the schema; its cloud ignores it.
  jsonSchema: 'both',
  // The other name is not read.
  reasoningField: 'reasoning',
  reasoningSwitch: 'effort',
  // Versions before May 2026 answer 400 to `max`, and gpt-oss has no such depth.
  effortWords: { off: 'none', low: 'low', high: 'high', max: 'high' },
};

const MISTRAL: ChatProfile = {
  ...CHAT,
  // Thinking comes as parts of the content, in full.
  thinkingShown: 'all',
  // Ids of any other shape are answered with 400.
  toolIds: 'nine',
  // `reasoning_content` in a message is answered with 422, as every unknown member is.
  reasoningField: 'none',
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

export const BUILT_IN_PROFILES: ReadonlyMap<string, UpstreamProfile> = new Map<
  string,
  UpstreamProfile
>([
  ['chat', CHAT],
  ['openai', OPENAI],
  // The same service behind another header.
  ['azure', { ...OPENAI, credential: 'api-key' }],
  [
    'deepseek',
    {
      ...CHAT,
      // "Thinking mode does not support this tool_choice": it is the forced tool that was asked for.
      forcedChoice: 'without_thinking',
      // While it thinks, it answers 400 when an assistant turn comes back without the field.
      lostReasoning: 'empty',
      // Thinking has always come in its own field here, in full.
      thinkTags: 'ignore',
      thinkingShown: 'all',
    },
  ],
  ['vllm', VLLM],
  ['llama.cpp', LLAMA_CPP],
  ['ollama', OLLAMA],
  ['mistral', MISTRAL],
  [
    'openrouter',
    {
      ...CHAT,
      // "Stop sequences (up to 4)".
      stopMax: 4,
      // Its own name for thinking, in both directions.
      reasoningField: 'reasoning',
      // It translates this object for every vendor behind it, and deprecates the plain field.
      reasoningSwitch: 'object',
      // The deepest word that it has taken from the start; it lowers what a model does not have.
      effortWords: { off: 'none', low: 'low', high: 'high', max: 'xhigh' },
    },
  ],
  ['messages', MESSAGES],
  [
    'anthropic',
    {
      ...MESSAGES,
      // Models since Opus 4.7 see larger images; those before are counted too high, never too low.
      imageTokens: 'large_area',
      // Models since Opus 4.7 answer 400 to temperature, top_p and top_k with any value.
      sampling: 'omit',
      // Schemas outside the rules of its switch go into the prompt; it refuses them.
      jsonSchema: 'send',
      // The same models refuse budgets; those before 4.6, and Haiku 4.5, know nothing else.
      thinkingSwitch: 'adaptive',
    },
  ],
  [
    'deepseek-messages',
    {
      ...MESSAGES,
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
    },
  ],
]);
