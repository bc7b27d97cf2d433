// Writes the `input` of a Responses request as JSON text: the server's own items are inserted byte
// for byte. Appending turns only extends it at its end, because upstreams cache prompt prefixes.

import type { UpstreamFailure } from '../../../core/failure.ts';
import type { AssistantTurn, ContentPart, Tool, ToolCall, Turn } from '../../../core/generation.ts';
import type { ResponsesProfile } from '../../../core/responses-profile.ts';
import { customInput } from '../../custom-input.ts';
import type { UpstreamCall } from '../../format.ts';
import { toolInput } from '../../tool-input.ts';
import { missingResult } from '../../turns.ts';
import { withDistinctIds } from '../call-ids.ts';
import { unsupported } from '../failure.ts';
import { foldSystem } from '../fold-system.ts';
import { bridgePrefill } from '../prefill-bridge.ts';
import { foldNames } from '../speaker-names.ts';
import { toolIdFor } from '../tool-id.ts';
import { resultText } from '../tool-result.ts';
import { ownThinking, piecesOf, type TurnPiece } from '../turn-pieces.ts';
import { isReasoningItem } from './item.ts';

type Style = {
  readonly call: UpstreamCall;
  readonly profile: ResponsesProfile;
  /** The ids of calls whose input is text. */
  readonly custom: ReadonlySet<string>;
};

/** An empty list is refused, and some templates refuse an answer to nothing. */
const OPENING = message('user', [inputText('Continue.')]);

/**
 * The turns in the form that the format accepts: without names, each call with an id of its own and
 * with a result, and a user's turn behind an answer that is to be continued.
 */
export function arrangeInput(turns: readonly Turn[], profile: ResponsesProfile): readonly Turn[] {
  const named = foldNames(turns);
  const placed = profile.systemInMiddle === 'fold' ? foldSystem(named) : named;
  return bridgePrefill(answerLast(withDistinctIds(placed)));
}

/** A conversation may end with open calls, and "No tool output found for function call" is a 400. */
function answerLast(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1);
  if (last?.role !== 'assistant') return turns;
  return [...turns, ...last.toolCalls.map((call) => missingResult(call.id))];
}

export function writeInput(
  turns: readonly Turn[],
  tools: readonly Tool[],
  call: UpstreamCall,
  profile: ResponsesProfile,
): string | UpstreamFailure {
  if (profile.imageUrls === 'data' && turns.some(hasAddress)) {
    return unsupported('this upstream takes images only as data');
  }
  const style = { call, profile, custom: customCalls(turns, tools, profile) };
  const items = turns.flatMap((turn) => writeTurn(turn, style));
  const first = turns.find(({ role }) => role !== 'system');
  if (first?.role !== 'user') items.unshift(OPENING);
  return `[${items.join(',')}]`;
}

/** Whether the tool is declared as the client did, with text for input. */
export function isCustom({ custom }: Tool, profile: ResponsesProfile): boolean {
  return custom !== undefined && profile.customTools === 'send';
}

/** Their tools may be out of the list, which forgets them. */
function customCalls(
  turns: readonly Turn[],
  tools: readonly Tool[],
  profile: ResponsesProfile,
): ReadonlySet<string> {
  const names = new Set(tools.filter((tool) => isCustom(tool, profile)).map(({ name }) => name));
  if (names.size === 0) return names;
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.toolCalls : []));
  return new Set(calls.filter(({ name }) => names.has(name)).map(({ id }) => id));
}

function hasAddress(turn: Turn): boolean {
  if (turn.role !== 'user') return false;
  return turn.parts.some((part) => part.kind === 'image' && !/^data:/i.test(part.url));
}

function writeTurn(turn: Turn, style: Style): string[] {
  switch (turn.role) {
    case 'user':
      return [message('user', writeParts(turn.parts))];
    case 'system':
      return [message('developer', [inputText(turn.text)])];
    case 'assistant':
      return writeAssistant(turn, style);
    case 'tool': {
      const { profile, custom } = style;
      const call_id = toolIdFor(profile.toolIds, turn.toolCallId);
      const type = custom.has(turn.toolCallId) ? 'custom_tool_call_output' : 'function_call_output';
      return [item(type, { call_id, output: resultText(turn, profile) })];
    }
  }
}

function writeParts(parts: readonly ContentPart[]): object[] {
  const written = parts.flatMap((part) => {
    // Strict servers demand a detail.
    if (part.kind === 'image')
      return [{ type: 'input_image', image_url: part.url, detail: 'auto' }];
    return part.text === '' ? [] : [inputText(part.text)];
  });
  return written.length === 0 ? [inputText('')] : written;
}

function inputText(text: string): object {
  return { type: 'input_text', text };
}

function item(type: string, members: object): string {
  return JSON.stringify({ type, ...members });
}

/** The members that Codex sends, because every server of this format has been tried with them. */
function message(role: string, content: readonly object[], phase?: string): string {
  return item('message', { role, content, phase });
}

/** In the order of the answer: "without its required following item" is a 400. */
function writeAssistant(turn: AssistantTurn, style: Style): string[] {
  const { call, profile } = style;
  const own = ownThinking(turn, call);
  const all = piecesOf(turn, own) ?? piecesOf(turn, []) ?? [];
  const pieces = all.filter((piece) => piece.kind !== 'text' || piece.text !== '');
  const end = pieces.findLastIndex((piece) => piece.kind !== 'thinking');
  // Thinking that nothing follows is refused.
  const said = pieces.slice(0, end + 1);
  const phase = turn.toolCalls.length > 0 ? 'commentary' : 'final_answer';
  const items = said.flatMap((piece) => writePiece(piece, phase, style));
  const isTold = call.reasons && profile.reasoningHistory === 'text';
  if (!isTold || turn.reasoning === '' || items.length === 0) return items;
  const content = [{ type: 'reasoning_text', text: turn.reasoning }];
  return [item('reasoning', { summary: [], content }), ...items];
}

function writePiece(piece: TurnPiece, phase: string, style: Style): string[] {
  const { call, profile, custom } = style;
  switch (piece.kind) {
    case 'thinking': {
      const returns = call.reasons && profile.reasoningHistory === 'encrypted';
      const { block } = piece;
      // The upstream may have had another dialect when it signed the others.
      return returns && block.kind === 'native' && isReasoningItem(block.json) ? [block.json] : [];
    }
    case 'text': {
      const own = profile.phases === 'send' ? (piece.phase ?? phase) : undefined;
      return [message('assistant', [{ type: 'output_text', text: piece.text }], own)];
    }
    case 'call':
      return [writeCall(piece.call, profile, custom.has(piece.call.id))];
  }
}

function writeCall(call: ToolCall, profile: ResponsesProfile, isText: boolean): string {
  const { name, arguments: json } = call;
  const call_id = toolIdFor(profile.toolIds, call.id);
  if (isText) return item('custom_tool_call', { call_id, name, input: customInput(json) });
  return item('function_call', { call_id, name, arguments: toolInput(json) });
}
