// Puts an assistant turn back into the order of the answer that it was: upstreams refuse their
// thinking in any other place.

import type { AssistantTurn, ThinkingBlock, ToolCall } from '../../core/generation.ts';
import type { UpstreamCall } from '../format.ts';

/** The blocks of a list that are not marks. */
export type OwnThinking = Extract<ThinkingBlock, { kind: 'thinking' | 'redacted' | 'native' }>;

export type TurnPiece =
  | { readonly kind: 'thinking'; readonly block: OwnThinking }
  | { readonly kind: 'text'; readonly text: string; readonly phase?: string | undefined }
  | { readonly kind: 'call'; readonly call: ToolCall; readonly signature?: string | undefined };

/** The thinking of a turn that this model of the upstream has signed; empty: none. */
export function ownThinking(turn: AssistantTurn, call: UpstreamCall): readonly ThinkingBlock[] {
  const { signed } = turn;
  if (signed?.upstream !== call.upstream) return [];
  return signed.model === undefined || signed.model === call.model ? signed.blocks : [];
}

/**
 * The turn in its order: the marks of `blocks` cut its text and take its calls, and what is left of
 * both follows. Undefined if the client has changed the turn so that the marks do not fit.
 */
export function piecesOf(
  { text, toolCalls }: Pick<AssistantTurn, 'text' | 'toolCalls'>,
  blocks: readonly ThinkingBlock[],
): readonly TurnPiece[] | undefined {
  const pieces: TurnPiece[] = [];
  let at = 0;
  let next = 0;
  for (const block of blocks) {
    switch (block.kind) {
      case 'text': {
        const end = at + block.length;
        const said = text.slice(at, end);
        // A half of a character would be refused.
        if (end > text.length || (text.isWellFormed() && !said.isWellFormed())) return undefined;
        pieces.push({ kind: 'text', text: said, phase: block.phase });
        at = end;
        break;
      }
      case 'call': {
        const call = toolCalls[next];
        if (call === undefined) return undefined;
        pieces.push({ kind: 'call', call, signature: block.signature });
        next += 1;
        break;
      }
      default:
        pieces.push({ kind: 'thinking', block });
    }
  }
  if (at < text.length) pieces.push({ kind: 'text', text: text.slice(at) });
  for (const call of toolCalls.slice(next)) pieces.push({ kind: 'call', call });
  return pieces;
}
