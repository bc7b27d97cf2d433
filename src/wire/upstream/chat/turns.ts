// Arranges the turns of a conversation in an order that a chat-completions upstream accepts. It
// must lose no text, and appending turns must only extend the result at its end.

import type { AssistantTurn, SystemTurn, Turn, UserTurn } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { foldSystem } from '../fold-system.ts';
import { foldNames } from '../speaker-names.ts';

/** A filler turn by the assistant after tool results. */
const BRIDGE: AssistantTurn = { role: 'assistant', reasoning: '', text: 'OK.', toolCalls: [] };

export function arrangeTurns(turns: readonly Turn[], profile: ChatProfile): readonly Turn[] {
  // A merged turn has no room for two names.
  const isFolded = profile.speakerNames === 'fold' || profile.turnOrder === 'alternate';
  const named = isFolded ? foldNames(turns) : turns;
  const placed = profile.systemInMiddle === 'fold' ? foldSystem(named) : named;
  const merged = profile.turnOrder === 'alternate' ? mergeNeighbours(placed) : placed;
  return profile.userAfterTool === 'bridge' ? bridgeToolResults(merged) : merged;
}

/** Whether the model should continue an assistant turn that the client began. */
export function isContinued(turns: readonly Turn[]): boolean {
  const last = turns.at(-1);
  return last?.role === 'assistant' && last.text !== '' && last.toolCalls.length === 0;
}

/**
 * Tool results are not merged, because each belongs to its own call. Empty turns only separate
 * others, and servers that check the order of roles refuse them too.
 */
function mergeNeighbours(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    if (isEmpty(turn)) continue;
    const last = merged.at(-1);
    const both = last === undefined ? undefined : mergeTurns(last, turn);
    if (both === undefined) merged.push(turn);
    else merged[merged.length - 1] = both;
  }
  return merged;
}

function isEmpty(turn: Turn): boolean {
  if (turn.role !== 'assistant') return false;
  return turn.reasoning === '' && turn.text === '' && turn.toolCalls.length === 0;
}

/** Undefined if the two cannot be merged. */
function mergeTurns(first: Turn, second: Turn): UserTurn | AssistantTurn | SystemTurn | undefined {
  if (first.role === 'user' && second.role === 'user') {
    return { role: 'user', parts: [...first.parts, ...second.parts] };
  }
  if (first.role === 'system' && second.role === 'system') {
    return { role: 'system', text: joined(first.text, second.text) };
  }
  if (first.role === 'assistant' && second.role === 'assistant') {
    return {
      role: 'assistant',
      reasoning: joined(first.reasoning, second.reasoning),
      text: joined(first.text, second.text),
      toolCalls: [...first.toolCalls, ...second.toolCalls],
    };
  }
  return undefined;
}

function joined(first: string, second: string): string {
  return first === '' || second === '' ? first + second : `${first}\n\n${second}`;
}

function bridgeToolResults(turns: readonly Turn[]): Turn[] {
  return turns.flatMap((turn, index) =>
    turn.role === 'user' && turns[index - 1]?.role === 'tool' ? [BRIDGE, turn] : [turn],
  );
}
