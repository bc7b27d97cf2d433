// Places the cache marks for a Messages upstream. Such an upstream caches nothing by default: it
// stores the prefix that ends at a mark, and finds the longest one stored for an earlier request.
// At most four marks are accepted: the end of the tools, the end of the system prompt, and two in
// the messages.

import { isConversation } from '../../../core/conversation.ts';
import type { GenerationRequest } from '../../../core/generation.ts';
import type { MessagesProfile } from '../../../core/profile.ts';

/** Cached for five minutes after each use. Some servers refuse a lifetime beside the type. */
export const MARK = { cache_control: { type: 'ephemeral' } } as const;

const MARK_MEMBER = JSON.stringify(MARK).slice(1);

/** Anthropic charges 25 % more for cache writes, which one-shot requests do not benefit from. */
export function asksForCache(request: GenerationRequest, profile: MessagesProfile): boolean {
  if (profile.contentParts === 'never') return false;
  return (
    profile.cacheMarks === 'always' ||
    (profile.cacheMarks === 'conversations' && isConversation(request))
  );
}

/** The same tools, the last one marked. */
export function markLast(tools: readonly object[]): object[] {
  return tools.map((tool, at) => (at === tools.length - 1 ? { ...tool, ...MARK } : tool));
}

/**
 * Marks where the prompts of this request and of the previous one end: the upstream was called
 * before each assistant message. So the previous prompt is found at exactly the block where it was
 * stored, even after a large round of tools; an upstream searches only 20 blocks before a mark.
 * Thinking, which cannot be marked, occurs only in assistant messages.
 */
export function markEnds(
  messages: readonly { readonly role: string; readonly blocks: string[] }[],
) {
  const ends = messages.filter(({ role }, at) => {
    const next = messages[at + 1]?.role ?? 'assistant';
    return role !== 'assistant' && next === 'assistant';
  });
  for (const { blocks } of ends.slice(-2)) {
    const last = blocks.pop();
    if (last !== undefined) blocks.push(`${last.slice(0, -1)},${MARK_MEMBER}`);
  }
}
