// Makes repeated tool-call ids of a conversation distinct, for upstreams that refuse duplicates.
// Appending turns does not change earlier names, because upstreams cache prompt prefixes.

import type { ToolCall, Turn } from '../../core/generation.ts';

/**
 * The same turns with unique call ids: the second call `a` becomes `a-2`, and so does its result.
 * Results with equal ids are matched to the calls in order.
 */
export function withDistinctIds(turns: readonly Turn[]): readonly Turn[] {
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.toolCalls : []));
  if (calls.length < 2) return turns;
  if (new Set(calls.map((call) => call.id)).size === calls.length) return turns;
  const named = new Set<string>();
  /** How often each id has occurred, so that no number is tried twice. */
  const counts = new Map<string, number>();
  /** The new ids of calls that wait for a result by their old ids, the first one last. */
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
