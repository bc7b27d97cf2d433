// The size of a prompt in tokens. Admission and count_tokens call this same function, so what a
// client was told is what is reserved. The tokenizer itself is handed in: it is slow to load and
// has to yield on large texts, which is a shell's business.

import type { GenerationRequest, Turn } from './generation.ts';

/** Counts one text. Deterministic: the same text always has the same count. */
export type CountText = (text: string) => number | Promise<number>;

const TOKENS_PER_REQUEST = 3;
const TOKENS_PER_TURN = 4;
const TOKENS_PER_TOOL = 8;
const TOKENS_PER_TOOL_CALL = 6;
/** What a picture costs at most models, whatever its size: it is never decoded here. */
export const TOKENS_PER_IMAGE = 1_024;

/** The estimated prompt tokens of a request: every text part, and fixed costs for the frame. */
export async function estimatePrompt(
  request: Pick<GenerationRequest, 'system' | 'turns' | 'tools'>,
  countText: CountText,
): Promise<number> {
  let tokens = TOKENS_PER_REQUEST;
  const add = async (text: string): Promise<void> => {
    if (text === '') return;
    const count = countText(text);
    tokens += typeof count === 'number' ? count : await count;
  };
  if (request.system !== '') {
    tokens += TOKENS_PER_TURN;
    await add(request.system);
  }
  for (const turn of request.turns) {
    tokens += TOKENS_PER_TURN;
    tokens += fixedTokens(turn);
    for (const text of turnTexts(turn)) await add(text);
  }
  for (const tool of request.tools) {
    tokens += TOKENS_PER_TOOL;
    await add(tool.name);
    await add(tool.description ?? '');
    await add(JSON.stringify(tool.parameters));
  }
  return tokens;
}

function fixedTokens(turn: Turn): number {
  switch (turn.role) {
    case 'user':
      return turn.parts.filter((part) => part.kind === 'image').length * TOKENS_PER_IMAGE;
    case 'assistant':
      return turn.toolCalls.length * TOKENS_PER_TOOL_CALL;
    case 'tool':
    case 'system':
      return 0;
  }
}

function turnTexts(turn: Turn): string[] {
  switch (turn.role) {
    case 'user':
      return turn.parts.map((part) => (part.kind === 'text' ? part.text : ''));
    case 'assistant':
      return [
        turn.reasoning,
        turn.text,
        ...turn.toolCalls.flatMap((call) => [call.name, call.arguments]),
      ];
    case 'tool':
    case 'system':
      return [turn.text];
  }
}
