// Where a Messages upstream is asked to cache the prompt. Such an upstream caches nothing unasked:
// it writes the prefix that ends at a mark, and finds the longest one that it has written at a mark
// of an earlier request. Called by the request writer. At most four marks are taken; these are the
// end of the tools, the end of the system prompt, and two in the messages.

import { isConversation } from '../../../core/conversation.ts';
import type { GenerationRequest } from '../../../core/generation.ts';
import type { MessagesProfile } from '../../../core/profile.ts';

/** Kept for five minutes after each use. Some servers refuse a lifetime beside the type. */
export const MARK = { cache_control: { type: 'ephemeral' } } as const;

const MARK_MEMBER = JSON.stringify(MARK).slice(1);

/** Anthropic charges a quarter more for what is written: one-shot requests have nothing of it. */
export function asksForCache(request: GenerationRequest, profile: MessagesProfile): boolean {
  return (
    profile.cacheMarks === 'always' ||
    (profile.cacheMarks === 'conversations' && isConversation(request))
  );
}

/** The same tools, the last of them with a mark. */
export function markLast(tools: readonly object[]): object[] {
  return tools.map((tool, at) => (at === tools.length - 1 ? { ...tool, ...MARK } : tool));
}

/**
 * Marks where the prompt of this request ends and where that of the previous one did: before each
 * assistant message the upstream was asked for it. So the previous prompt is found at the very block
 * that it was written at, however many blocks the last round of tools has; an upstream searches no
 * more than 20 blocks before a mark. Thinking, which takes no mark, is in assistant messages alone.
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
