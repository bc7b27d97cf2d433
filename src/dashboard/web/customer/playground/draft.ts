// The settings of the playground as typed. Kept only in memory while the page is open, so that the
// next user of the browser cannot read them.

import { signal } from '@preact/signals';
import { ApiError, request } from '../../ui/index.ts';
import { createConversation } from './conversation.ts';
import { refusalInWords } from './refusal.ts';
import type { Format, Settings } from './request.ts';
import { type ReadTools, readTools } from './tools.ts';

type Draft = {
  readonly format: Format;
  readonly model: string;
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly reasoning: string;
  readonly tools: string;
  readonly stream: boolean;
};

export const draft = signal<Draft>({
  format: 'chat',
  model: '',
  system: '',
  temperature: '',
  maxTokens: '',
  reasoning: '',
  tools: '',
  stream: true,
});

const PATHS: Readonly<Record<Format, string>> = {
  chat: '/playground/chat/completions',
  messages: '/playground/messages',
};

export const conversation = createConversation({
  send: (format, body, signal) => request('POST', PATHS[format], body, { signal }),
  refusalOf(error) {
    if (!(error instanceof ApiError)) return undefined;
    const { code, param, requestId, retryAfterSeconds } = error;
    const message = refusalInWords(error.message, retryAfterSeconds);
    return { message, code, param, requestId };
  },
  now: () => performance.now(),
});

/** The formats name the reasoning levels differently. */
export function changeDraft(more: Partial<Draft>): void {
  const isOther = more.format !== undefined && more.format !== draft.value.format;
  draft.value = { ...draft.value, ...(isOther ? { reasoning: '' } : {}), ...more };
}

/** The settings to send, or the reason they are invalid. The gateway checks the numbers. */
export function readDraft(
  { tools: text, temperature, maxTokens, ...rest }: Draft,
  features: { readonly reasoning: boolean; readonly tools: boolean },
): { readonly settings: Settings } | Extract<ReadTools, { readonly problem: string }> {
  const read = readTools(features.tools ? text : '');
  if ('problem' in read) return read;
  return {
    settings: {
      ...rest,
      reasoning: features.reasoning ? rest.reasoning : '',
      temperature: numberOf(temperature),
      maxTokens: numberOf(maxTokens),
      tools: read.tools,
    },
  };
}

function numberOf(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text);
}
