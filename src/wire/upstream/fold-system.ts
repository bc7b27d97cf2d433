// Folds system text in the middle of a conversation, for upstreams that accept it only at the
// front. Appending turns only extends the result at its end, because upstreams cache prompt
// prefixes.

import type { AssistantTurn, TextPart, ToolTurn, Turn, UserTurn } from '../../core/generation.ts';
import { textPart } from '../turns.ts';

/**
 * The same conversation without system turns: each text joins the preceding user turn or tool
 * result; after an assistant turn it is prepended to the next user turn.
 */
export function foldSystem(turns: readonly Turn[]): readonly Turn[] {
  if (!turns.some(isSystem)) return turns;
  const folded: (UserTurn | AssistantTurn | ToolTurn)[] = [];
  let leading: TextPart[] = [];
  const flush = (): void => {
    if (leading.length > 0) folded.push({ role: 'user', parts: leading });
    leading = [];
  };
  for (const turn of turns) {
    switch (turn.role) {
      case 'system': {
        const last = folded.at(-1);
        if (last === undefined || last.role === 'assistant') leading.push(textPart(turn.text));
        else folded[folded.length - 1] = withText(last, turn.text);
        break;
      }
      case 'user':
        folded.push({ ...turn, parts: [...leading, ...turn.parts] });
        leading = [];
        break;
      default:
        flush();
        folded.push(turn);
    }
  }
  flush();
  return folded;
}

function isSystem(turn: Turn): boolean {
  return turn.role === 'system';
}

function withText(turn: UserTurn | ToolTurn, text: string): UserTurn | ToolTurn {
  if (turn.role === 'tool') return { ...turn, text: joined(turn.text, text) };
  const last = turn.parts.at(-1);
  if (last?.kind !== 'text') return { ...turn, parts: [...turn.parts, textPart(text)] };
  return { ...turn, parts: [...turn.parts.slice(0, -1), textPart(joined(last.text, text))] };
}

function joined(before: string, text: string): string {
  return before === '' ? text : `${before}\n\n${text}`;
}
