// Whether a request belongs to a conversation, and where that conversation is kept. Upstreams cache
// prompts by credential, so the turns of one conversation go to one placement and one credential. A
// pure function of the request: nodes and restarts agree without sharing anything.

import type { GenerationRequest, Turn, UserTurn } from './generation.ts';

/** A number between 0 and 1 for each of several choices; the same one on every turn. */
export type Affinity = (choice: string) => number;

/**
 * Whether an earlier turn has been answered, or tools make a next turn likely. A forced tool is how
 * clients ask for structured output: its call is the answer and no result follows.
 */
export function isConversation({ turns, tools, toolChoice }: GenerationRequest): boolean {
  // A last assistant turn is the beginning of this answer.
  const answer = turns.findIndex(isAnswer);
  const isAnswered = answer !== -1 && answer < turns.length - 1;
  return isAnswered || (tools.length > 0 && (toolChoice ?? AUTO).kind === 'auto');
}

function isAnswer({ role }: Turn): boolean {
  return role === 'assistant';
}

const AUTO = { kind: 'auto' };

/**
 * The affinity of the conversation that a request belongs to: of the account, the system prompt and
 * the first user turn, which stay while turns are appended. Undefined for other requests: identical
 * ones would all go to one place. Nothing is hashed before there is a choice.
 */
export function affinityOf(accountId: string, request: GenerationRequest): Affinity | undefined {
  if (!isConversation(request)) return undefined;
  let seed: bigint | undefined;
  return (choice) => {
    seed ??= seedOf(accountId, request);
    return toFraction(Bun.hash.xxHash64(choice, seed));
  };
}

function seedOf(accountId: string, { model, system, turns }: GenerationRequest): bigint {
  const first = turns.find((turn): turn is UserTurn => turn.role === 'user');
  const said = (first?.parts ?? []).map((part) => (part.kind === 'text' ? part.text : part.url));
  return [accountId, model, system, ...said].reduce(
    (seed, part) => Bun.hash.xxHash64(part, seed),
    0n,
  );
}

/** Never 0 and never 1: its logarithm is taken. */
function toFraction(hash: bigint): number {
  return (Number(hash >> 12n) + 0.5) / 2 ** 52;
}
