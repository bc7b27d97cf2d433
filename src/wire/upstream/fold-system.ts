// Folds system text in the middle of a conversation, for upstreams that accept it only at the
// front. Appending turns only extends the result at its end, because upstreams cache prompt
// prefixes.

import type {
  AssistantTurn,
  ContentPart,
  ToolTurn,
  Turn,
  UserTurn,
} from '../../core/generation.ts';
import { textPart } from '../turns.ts';

/**
 * The same conversation without system turns: each text joins the preceding user turn or tool
 * result; after an assistant turn it is prepended to the next user turn.
 */
export function foldSystem(turns: readonly Turn[]): readonly Turn[] {
  if (!turns.some(({ role }) => role === 'system')) return turns;
  const folded: (UserTurn | AssistantTurn | ToolTurn)[] = [];
  let leading: ContentPart[] = [];
  /** The parts of the last turn, if it is a user's: our own copy, which can grow. */
  let parts: ContentPart[] | undefined;
  const flush = (): void => {
    if (leading.length > 0) folded.push({ role: 'user', parts: leading });
    leading = [];
  };
  for (const turn of turns) {
    switch (turn.role) {
      case 'system': {
        const last = folded.at(-1);
        if (parts !== undefined) addText(parts, turn.text);
        else if (last?.role === 'tool') {
          folded[folded.length - 1] = { ...last, text: joined(last.text, turn.text) };
        } else leading.push(textPart(turn.text));
        break;
      }
      case 'user':
        parts = [...leading, ...turn.parts];
        folded.push({ ...turn, parts });
        leading = [];
        break;
      default:
        flush();
        parts = undefined;
        folded.push(turn);
    }
  }
  flush();
  return folded;
}

function addText(parts: ContentPart[], text: string): void {
  const last = parts.at(-1);
  if (last?.kind === 'text') parts[parts.length - 1] = textPart(joined(last.text, text));
  else parts.push(textPart(text));
}

function joined(before: string, text: string): string {
  return before === '' ? text : `${before}\n\n${text}`;
}
