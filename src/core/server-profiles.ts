// Model servers that operators run themselves, and marketplaces of many models.

import { byEffort, wordsOf } from './effort.ts';
import { type ChatProfile, DEFAULT_PROFILE, type ResponsesProfile } from './profile.ts';

const { chat: CHAT, responses: RESPONSES } = DEFAULT_PROFILE;

/** Servers of open models in the operator's network. */
const LOCAL: ChatProfile = {
  ...CHAT,
  closing: 'stops',
  // vLLM fetches an address from inside of that network, and customers choose it; Ollama fetches
  // none.
  imageUrls: 'data',
  // Open models: all that they think is in the answer.
  thinkingShown: 'all',
  // Most templates ignore the member, and llama.cpp does not read it.
  speakerNames: 'fold',
  // vLLM refuses other words before May 2026, and for gpt-oss in all versions; llama.cpp puts them
  // into the prompt as they are.
  effortWords: { off: '', low: 'low', high: 'high', max: 'high' },
  // They constrain the answer and show the model nothing of the schema; Ollama's cloud ignores it.
  jsonSchema: 'both',
};

export const VLLM: ChatProfile = {
  ...LOCAL,
  // Its own name since 0.16; newer versions read the other one as well.
  reasoningField: 'reasoning',
  // Templates have a switch of their own; versions before 2026 do not derive it from the effort.
  reasoningSwitch: 'template',
  // Without the flag the template closes the turn and begins another.
  prefill: 'continue_final_message',
};

/** The same flags, switches and templates; thinking goes back under the older name. */
export const SGLANG: ChatProfile = { ...VLLM, reasoningField: 'reasoning_content' };

export const LLAMA_CPP: ChatProfile = {
  ...LOCAL,
  // The default of the dialect.
  jsonSchema: 'prompt',
  // A choice by name counts as `auto`, with no more than a warning in the server's log.
  forcedChoice: 'required',
  // The effort reaches templates only since August 2026, and turns thinking off only in part.
  reasoningSwitch: 'template',
  // "Assistant response prefill is incompatible with enable_thinking" is the answer otherwise.
  prefill: 'without_thinking',
};

export const OLLAMA: ChatProfile = {
  ...LOCAL,
  // tool_choice is read by no version so far: a forced tool needs words, and `none` forbids nothing.
  forcedChoice: 'instruct',
  forbiddenChoice: 'drop_tools',
  // Not one of the fields that it reads.
  parallelToolCalls: 'omit',
  // The other name is not read.
  reasoningField: 'reasoning',
  reasoningSwitch: 'effort',
  // Versions before May 2026 answer 400 to `max`, and gpt-oss has no such depth.
  effortWords: { off: 'none', low: 'low', high: 'high', max: 'high' },
};

export const LM_STUDIO: ChatProfile = {
  ...LOCAL,
  // Only gpt-oss has efforts, and no other depth is known.
  ...byEffort('low', 'medium', 'high'),
  // A choice by name is refused.
  forcedChoice: 'required',
};

/** Responses of vLLM, llama.cpp, Ollama and LM Studio: open models, and nothing is encrypted. */
export const LOCAL_RESPONSES: ResponsesProfile = {
  ...RESPONSES,
  closing: 'stops',
  // As for chat.
  imageUrls: 'data',
  thinkingShown: 'all',
  reasoningSummary: 'omit',
  ...byEffort('none', 'low', 'medium', 'high'),
};

export const OPENROUTER: ChatProfile = {
  ...CHAT,
  // "Stop sequences (up to 4)".
  stopMax: 4,
  // Signed and encrypted thinking of the vendors behind it must return unchanged.
  reasoningField: 'details',
  // It translates this object for every vendor behind it, and deprecates the plain field.
  reasoningSwitch: 'object',
  // The deepest word that it has taken from the start; it lowers what a model does not have.
  effortWords: { off: 'none', low: 'low', high: 'high', max: 'xhigh' },
};

export const OPENROUTER_RESPONSES: ResponsesProfile = {
  ...RESPONSES,
  effortWords: OPENROUTER.effortWords,
  reasoningHistory: 'encrypted',
};

/** They host open models behind the common format, with all thinking in the answer. */
export const TOGETHER: ChatProfile = {
  ...CHAT,
  thinkingShown: 'all',
  reasoningSwitch: 'effort',
  effortWords: wordsOf(['low', 'medium', 'high']),
  jsonSchema: 'both',
  speakerNames: 'fold',
};

/** Also takes `none` and `max`. */
export const FIREWORKS: ChatProfile = {
  ...TOGETHER,
  ...byEffort('none', 'low', 'medium', 'high', 'max'),
};

/** GLM-5.3 always thinks there, as it does at its vendor. */
export const FIREWORKS_GLM: ChatProfile = {
  ...FIREWORKS,
  ...byEffort('low', 'medium', 'high', 'max'),
};
