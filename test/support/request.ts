// The least request that the pipeline takes, and its turns.

import type { AssistantTurn, GenerationRequest, UserTurn } from '../../src/core/generation.ts';

export const user = (...texts: string[]): UserTurn => ({
  role: 'user',
  parts: texts.map((text) => ({ kind: 'text', text })),
});

export const picture = (url: string): UserTurn => ({
  role: 'user',
  parts: [{ kind: 'image', url }],
});

export const assistant = (text: string, more: Partial<AssistantTurn> = {}): AssistantTurn => ({
  role: 'assistant',
  reasoning: '',
  text,
  toolCalls: [],
  ...more,
});

export function requestWith(more: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    model: 'swift-1',
    system: '',
    turns: [user('Hi')],
    stop: [],
    tools: [],
    json: false,
    stream: false,
    includeUsage: true,
    ...more,
  };
}
