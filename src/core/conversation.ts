// Detects conversations and pins each to a placement and a credential, because upstreams cache
// prompts by credential. It is a pure function of the request, so nodes and restarts agree without
// shared state.

import type { GenerationRequest, Turn, UserTurn } from './generation.ts';

/** A number between 0 and 1 per choice; the same one on every turn. */
export type Affinity = (choice: string) => number;

/**
 * Whether an earlier turn has been answered, or tools make another turn likely. A forced tool does
 * not count: clients use it for structured output, and no result follows its call.
 */
export function isConversation({ turns, tools, toolChoice }: GenerationRequest): boolean {
  // A trailing assistant turn is a prefill of this answer.
  const answer = turns.findIndex(({ role }) => role === 'assistant');
  const isAnswered = answer !== -1 && answer < turns.length - 1;
  return isAnswered || (tools.length > 0 && (toolChoice ?? AUTO).kind === 'auto');
}

/** Whether any turn has an image. */
export function hasImages(turns: readonly Turn[]): boolean {
  return turns.some(
    (turn) => turn.role === 'user' && turn.parts.some(({ kind }) => kind === 'image'),
  );
}

const AUTO = { kind: 'auto' };

/**
 * The affinity of a request, from the account and the client's cache key. Without a key, that of its
 * conversation, from the account, the system prompt and the first user turn, which stay the same as
 * turns are appended. Undefined for other requests, since identical ones would all go to one place.
 * Hashes only when there is a choice.
 */
export function affinityOf(accountId: string, request: GenerationRequest): Affinity | undefined {
  if (request.promptCacheKey === undefined && !isConversation(request)) return undefined;
  let seed: bigint | undefined;
  return (choice) => {
    seed ??= seedOf(accountId, request);
    return toFraction(Bun.hash.xxHash64(choice, seed));
  };
}

/** A name of the conversation for the prompt caches of upstreams, which reveals nothing of it. */
export function cacheKeyOf(affinity: Affinity): string {
  return Math.floor(affinity('prompt cache') * 2 ** 52).toString(36);
}

/**
 * A hash of the prompt up to and including `turns` of its turns, for an account and an upstream:
 * equal ones share the prefix that the upstream has in its cache.
 */
export function prefixOf(
  place: string,
  { system, turns }: GenerationRequest,
  count: number,
): bigint {
  let hash = Bun.hash.wyhash(system, Bun.hash.wyhash(place));
  for (const turn of turns.slice(0, count)) {
    const said =
      turn.role === 'user' ? [{ ...turn, parts: turn.parts.length }, ...turn.parts] : [turn];
    for (const each of said) hash = hashOf(each, hash);
  }
  return hash;
}

/** A text is hashed as it is, because escaping a long one takes longer than its hash. */
function hashOf(said: object, seed: bigint): bigint {
  if (!('text' in said) || typeof said.text !== 'string') {
    return Bun.hash.wyhash(JSON.stringify(said), seed);
  }
  const { text, ...rest } = said;
  return Bun.hash.wyhash(text, Bun.hash.wyhash(JSON.stringify(rest), seed));
}

function seedOf(accountId: string, request: GenerationRequest): bigint {
  const parts = [accountId, request.model, ...beginning(request)];
  return parts.reduce((seed, part) => Bun.hash.xxHash64(part, seed), 0n);
}

function beginning({ promptCacheKey, system, turns }: GenerationRequest): readonly string[] {
  if (promptCacheKey !== undefined) return [promptCacheKey];
  const first = turns.find((turn): turn is UserTurn => turn.role === 'user');
  const said = (first?.parts ?? []).map((part) => (part.kind === 'text' ? part.text : part.url));
  return [system, ...said];
}

/** Never 0 or 1, because its logarithm is taken. */
function toFraction(hash: bigint): number {
  return (Number(hash >> 12n) + 0.5) / 2 ** 52;
}
