// Tool-call ids that come more than once in a conversation, for upstreams that refuse it. Called by
// the request writer. When turns are appended, what was named before keeps its name: prompt prefixes
// are cached upstream.

import type { ToolCall, Turn } from '../../../core/generation.ts';

/**
 * The same turns with every call named once: the second call `a` becomes `a-2`, and so does the
 * result that belongs to it. Of the results behind a turn with equal ids the first one belongs to
 * the first call.
 */
export function withDistinctIds(turns: readonly Turn[]): readonly Turn[] {
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.toolCalls : []));
  if (new Set(calls.map((call) => call.id)).size === calls.length) return turns;
  const named = new Set<string>();
  /** How often each id has come, so that no number is tried twice. */
  const counts = new Map<string, number>();
  /** The new ids of the calls that wait for a result, by the old ones, the first one last. */
  let open = new Map<string, string[]>();

  function distinct(call: ToolCall): ToolCall {
    let id = call.id;
    while (named.has(id)) {
      const count = (counts.get(call.id) ?? 1) + 1;
      counts.set(call.id, count);
      id = `${call.id}-${count}`;
    }
    named.add(id);
    const waiting = open.get(call.id);
    if (waiting === undefined) open.set(call.id, [id]);
    else waiting.push(id);
    return { ...call, id };
  }

  return turns.map((turn) => {
    if (turn.role === 'assistant') {
      open = new Map();
      const toolCalls = turn.toolCalls.map(distinct);
      for (const waiting of open.values()) waiting.reverse();
      return { ...turn, toolCalls };
    }
    if (turn.role !== 'tool') return turn;
    return { ...turn, toolCallId: open.get(turn.toolCallId)?.pop() ?? turn.toolCallId };
  });
}
