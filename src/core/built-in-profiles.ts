// The profiles that a catalog can name without defining them. The files of their vendors have the
// reason beside each value that differs from its dialect's default. A test compares the documented
// table with this one. A name that ends in a dialect, such as `openai-responses`, is also what an
// upstream of that dialect gets that names the vendor alone.

import * as anthropic from './anthropic-profiles.ts';
import * as openai from './openai-profiles.ts';
import { DEFAULT_PROFILE, type UpstreamProfile } from './profile.ts';
import * as servers from './server-profiles.ts';
import * as vendors from './vendor-profiles.ts';

export const BUILT_IN_PROFILES: ReadonlyMap<string, UpstreamProfile> = new Map<
  string,
  UpstreamProfile
>([
  ['chat', DEFAULT_PROFILE.chat],
  ['openai', openai.OPENAI],
  ['openai-chat-6', openai.OPENAI_CHAT_6],
  ['azure', openai.AZURE],
  ['azure-chat-6', openai.AZURE_CHAT_6],
  ['deepseek', vendors.DEEPSEEK],
  ['gemini', vendors.GEMINI],
  ['gemini-3.8-flash', vendors.GEMINI_FLASH],
  ['gemini-4-hydrogen', vendors.GEMINI_HYDROGEN],
  ['moonshot', vendors.MOONSHOT],
  ['moonshot-k2.7', vendors.MOONSHOT_K2_7],
  ['moonshot-k3', vendors.MOONSHOT_K3],
  ['zai', vendors.ZAI],
  ['zai-5.2', vendors.ZAI_5_2],
  ['zai-4.6', vendors.ZAI_4_6],
  ['minimax', vendors.MINIMAX],
  ['minimax-m3', vendors.MINIMAX_M3],
  ['qwen', vendors.QWEN],
  ['mistral', vendors.MISTRAL],
  ['mistral-large-4', vendors.MISTRAL_LARGE_4],
  ['xai-chat', vendors.XAI_CHAT],
  ['groq', vendors.GROQ],
  ['groq-qwen', vendors.GROQ_QWEN],
  ['cerebras', vendors.CEREBRAS],
  ['cerebras-open', vendors.CEREBRAS_OPEN],
  ['openrouter', servers.OPENROUTER],
  ['together', servers.TOGETHER],
  ['fireworks', servers.FIREWORKS],
  ['fireworks-glm-5.3', servers.FIREWORKS_GLM],
  ['vllm', servers.VLLM],
  ['sglang', servers.SGLANG],
  ['llama.cpp', servers.LLAMA_CPP],
  ['ollama', servers.OLLAMA],
  ['lmstudio', servers.LM_STUDIO],
  ['messages', DEFAULT_PROFILE.messages],
  ['anthropic', anthropic.ANTHROPIC],
  ['anthropic-5.5', anthropic.ANTHROPIC_5_5],
  ['anthropic-sonnet-5.5', anthropic.ANTHROPIC_SONNET_5_5],
  ['anthropic-haiku-5.5', anthropic.ANTHROPIC_HAIKU_5_5],
  ['anthropic-5', anthropic.ANTHROPIC_5],
  ['anthropic-fable-5', anthropic.ANTHROPIC_FABLE_5],
  ['anthropic-4.6', anthropic.ANTHROPIC_4_6],
  ['anthropic-4.5', anthropic.ANTHROPIC_4_5],
  ['azure-messages', anthropic.AZURE],
  ['bedrock', anthropic.BEDROCK],
  ['vertex', anthropic.VERTEX],
  ['deepseek-messages', vendors.DEEPSEEK_MESSAGES],
  ['minimax-messages', vendors.MINIMAX_MESSAGES],
  ['responses', DEFAULT_PROFILE.responses],
  ['openai-responses', openai.OPENAI_RESPONSES],
  ['openai-6', openai.OPENAI_6],
  ['openai-5.4', openai.OPENAI_5_4],
  ['azure-responses', openai.AZURE_RESPONSES],
  ['azure-6', openai.AZURE_6],
  ['azure-5.4', openai.AZURE_5_4],
  ['xai', vendors.XAI],
  ['xai-4.3', vendors.XAI_4_3],
  ['xai-4.20', vendors.XAI_4_20],
  ['openrouter-responses', servers.OPENROUTER_RESPONSES],
  ['vllm-responses', servers.LOCAL_RESPONSES],
  ['llama.cpp-responses', servers.LOCAL_RESPONSES],
  ['ollama-responses', servers.LOCAL_RESPONSES],
  ['lmstudio-responses', servers.LOCAL_RESPONSES],
]);
