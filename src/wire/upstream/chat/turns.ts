// Arranges the turns of a conversation in an order that a chat-completions upstream accepts. It
// must lose no text, and appending turns must only extend the result at its end.

import type { AssistantTurn, Turn } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { withDistinctIds } from '../call-ids.ts';
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
  const distinct = withDistinctIds(merged);
  return profile.userAfterTool === 'bridge' ? bridgeToolResults(distinct) : distinct;
}

/** Whether the model should continue an assistant turn that the client began. */
export function isContinued(turns: readonly Turn[]): boolean {
  const last = turns.at(-1);
  return last?.role === 'assistant' && last.text !== '' && last.toolCalls.length === 0;
}

/** Consecutive turns of one role. */
type Run = [Turn, ...Turn[]];

/**
 * Tool results are not merged, because each belongs to its own call. Empty turns only separate
 * others, and servers that check the order of roles refuse them too.
 */
function mergeNeighbours(turns: readonly Turn[]): Turn[] {
  const runs: Run[] = [];
  for (const turn of turns) {
    if (isEmpty(turn)) continue;
    const last = runs.at(-1);
    if (turn.role !== 'tool' && last?.[0].role === turn.role) last.push(turn);
    else runs.push([turn]);
  }
  return runs.map(mergeRun);
}

function isEmpty(turn: Turn): boolean {
  if (turn.role !== 'assistant') return false;
  return turn.reasoning === '' && turn.text === '' && turn.toolCalls.length === 0;
}

function mergeRun(run: Run): Turn {
  const [first] = run;
  if (run.length === 1) return first;
  switch (first.role) {
    case 'user': {
      const users = run.filter((turn) => turn.role === 'user');
      return { role: 'user', parts: users.flatMap((turn) => turn.parts) };
    }
    case 'assistant': {
      const assistants = run.filter((turn) => turn.role === 'assistant');
      return {
        role: 'assistant',
        reasoning: joined(assistants.map((turn) => turn.reasoning)),
        text: joined(assistants.map((turn) => turn.text)),
        toolCalls: assistants.flatMap((turn) => turn.toolCalls),
      };
    }
    default: {
      const systems = run.filter((turn) => turn.role === 'system');
      return { role: 'system', text: joined(systems.map((turn) => turn.text)) };
    }
  }
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

function bridgeToolResults(turns: readonly Turn[]): Turn[] {
  return turns.flatMap((turn, index) =>
    turn.role === 'user' && turns[index - 1]?.role === 'tool' ? [BRIDGE, turn] : [turn],
  );
}
