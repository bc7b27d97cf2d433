// Every stand-in under the name of its site.

import { anthropic } from './stand-ins/anthropic.ts';
import { cerebras } from './stand-ins/cerebras.ts';
import { deepseek } from './stand-ins/deepseek.ts';
import { gemini } from './stand-ins/gemini.ts';
import { groq } from './stand-ins/groq.ts';
import { fireworks, together } from './stand-ins/hosts.ts';
import { llamaCpp, lmStudio, ollama, sglang, vllm } from './stand-ins/local.ts';
import { deepseekMessages, minimaxMessages } from './stand-ins/messages-hosts.ts';
import { minimax } from './stand-ins/minimax.ts';
import { mistral } from './stand-ins/mistral.ts';
import { moonshot } from './stand-ins/moonshot.ts';
import { openaiChat } from './stand-ins/openai-chat.ts';
import { openrouter } from './stand-ins/openrouter.ts';
import { qwen } from './stand-ins/qwen.ts';
import { responses } from './stand-ins/responses.ts';
import type { ResponsesSeller } from './stand-ins/responses-sellers.ts';
import type { Vendor } from './stand-ins/server.ts';
import { zai } from './stand-ins/zai.ts';

/** A vendor with both of OpenAI's endpoints. */
function both(chat: Vendor, seller: ResponsesSeller): Vendor {
  const other = responses(seller);
  return (seen) => (seen.path.endsWith('/responses') ? other(seen) : chat(seen));
}

/** A vendor with a Messages endpoint beside its chat completions. */
function beside(chat: Vendor, messages: Vendor): Vendor {
  return (seen) => (seen.path.startsWith('/anthropic/') ? messages(seen) : chat(seen));
}

export const SITES = {
  openai: both(openaiChat(), 'openai'),
  azure: both(openaiChat({ azure: true }), 'azure'),
  xai: responses('xai'),
  anthropic: anthropic(),
  bedrock: anthropic('bedrock'),
  vertex: anthropic('vertex'),
  gemini,
  moonshot,
  zai,
  minimax: beside(minimax, minimaxMessages),
  qwen,
  deepseek: beside(deepseek, deepseekMessages),
  mistral,
  groq,
  cerebras,
  openrouter: both(openrouter, 'openrouter'),
  together,
  fireworks,
  vllm: both(vllm, 'local'),
  sglang,
  'llama.cpp': llamaCpp,
  ollama,
  lmstudio: lmStudio,
} as const satisfies Readonly<Record<string, Vendor>>;

export type Site = keyof typeof SITES;
