// Writes the `messages` of a chat-completions request: each turn as one upstream accepts it. The
// turns are already in order.

import type {
  AssistantTurn,
  ContentPart,
  GenerationRequest,
  ThinkingBlock,
  ToolCall,
  ToolTurn,
  Turn,
} from '../../../core/generation.ts';
import { parseJson } from '../../../core/json.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import type { UpstreamCall } from '../../format.ts';
import { toolInput } from '../../tool-input.ts';
import { toolIdFor } from '../tool-id.ts';
import { resultText } from '../tool-result.ts';
import { ownThinking } from '../turn-pieces.ts';
import { isThinking } from './reasoning.ts';
import { isContinued } from './turns.ts';

type Style = {
  readonly call: UpstreamCall;
  readonly profile: ChatProfile;
  /** Whether the model can reason, and whether it should. */
  readonly reasons: boolean;
  readonly thinks: boolean;
};

/** `turns` are those of the request, arranged for the profile. */
export function writeMessages(
  request: GenerationRequest,
  turns: readonly Turn[],
  call: UpstreamCall,
  profile: ChatProfile,
): object[] {
  const style = { call, profile, reasons: call.reasons, thinks: isThinking(request, call) };
  const messages: object[] = [];
  if (request.system !== '') {
    messages.push({ role: 'system', content: writeText(request.system, profile) });
  }
  for (const turn of turns) messages.push(writeTurn(turn, style));
  const { prefill } = profile;
  if ((prefill === 'prefix' || prefill === 'partial') && isContinued(turns)) {
    messages.push({ ...messages.pop(), [prefill]: true });
  }
  return messages;
}

function writeTurn(turn: Turn, style: Style): object {
  const { profile } = style;
  switch (turn.role) {
    case 'user':
      return { role: 'user', name: turn.name, content: writeContent(turn.parts, profile) };
    case 'assistant':
      return writeAssistant(turn, style);
    case 'system':
      return { role: 'system', content: writeText(turn.text, profile) };
    case 'tool':
      return writeToolResult(turn, profile);
  }
}

/** Text alone is one string, since some servers refuse an array; images need one. */
function writeContent(parts: readonly ContentPart[], profile: ChatProfile): string | object[] {
  if (parts.some(({ kind }) => kind === 'image') || profile.contentParts === 'always') {
    return written(parts.flatMap(writePart));
  }
  let content = '';
  for (const part of parts) {
    if (part.kind === 'text' && part.text !== '') content += (content && '\n') + part.text;
  }
  return content;
}

/** Servers refuse empty text parts. */
function writePart(part: ContentPart): object[] {
  if (part.kind === 'image') return [{ type: 'image_url', image_url: { url: part.url } }];
  return part.text === '' ? [] : [{ type: 'text', text: part.text }];
}

function writeText(text: string, profile: ChatProfile): string | object[] {
  return profile.contentParts === 'always' ? written(writePart({ kind: 'text', text })) : text;
}

/** They refuse an empty array as well. */
function written(parts: object[]): string | object[] {
  return parts.length === 0 ? '' : parts;
}

function writeAssistant(turn: AssistantTurn, style: Style): object {
  const { profile } = style;
  const own = style.reasons ? ownThinking(turn, style.call) : [];
  const hasCalls = turn.toolCalls.length > 0;
  const isNull = hasCalls && turn.text === '' && profile.contentBesideCalls === 'null';
  return {
    role: 'assistant',
    name: turn.name,
    content: isNull ? null : writeText(turn.text, profile),
    ...writeEarlierThinking(turn, own, style),
    tool_calls: hasCalls ? writeToolCalls(turn.toolCalls, own, profile) : undefined,
  };
}

/**
 * Thinking is sent back only to a model that reasons. Some of those refuse a tool turn without it,
 * while servers of other models refuse an unknown field.
 */
function writeEarlierThinking(
  { text, reasoning }: AssistantTurn,
  own: readonly ThinkingBlock[],
  style: Style,
): object {
  const { reasoningField: field, lostReasoning } = style.profile;
  if (field === 'none' || !style.reasons) return {};
  const details = own.flatMap((block) =>
    block.kind === 'native' ? (parseJson(block.json) ?? []) : [],
  );
  if (field === 'details' && details.length > 0) return { reasoning_details: details };
  const lost = style.thinks ? LOST_REASONING[lostReasoning] : undefined;
  const written = reasoning === '' ? lost : reasoning;
  if (written === undefined) return {};
  switch (field) {
    case 'parts':
      return {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: written }] },
          ...writePart({ kind: 'text', text }),
        ],
      };
    case 'details':
      return { reasoning: written };
    default:
      return { [field]: written };
  }
}

/** The text in place of thinking that is lost; undefined: the field is left out. */
const LOST_REASONING = { omit: undefined, empty: '', space: ' ' } as const;

function writeToolCalls(
  calls: readonly ToolCall[],
  own: readonly ThinkingBlock[],
  profile: ChatProfile,
): object[] {
  const signatures = own.filter((block) => block.kind === 'call');
  const isSigned = signatures.some(({ signature }) => signature !== undefined);
  return calls.map((call, at) => ({
    id: toolIdFor(profile.toolIds, call.id),
    type: 'function',
    // vLLM, SGLang and llama.cpp parse them: one truncated call would end the conversation.
    function: { name: call.name, arguments: toolInput(call.arguments) },
    ...(isSigned ? writeSignature(signatures[at]) : standInSignature(at, profile)),
  }));
}

/** The vendor's own member, as it was received. */
function writeSignature(mark: { readonly signature?: string } | undefined): object {
  return mark?.signature === undefined ? {} : { extra_content: parseJson(mark.signature) };
}

function standInSignature(at: number, { callSignature }: ChatProfile): object {
  if (at > 0 || callSignature === '') return {};
  return { extra_content: { google: { thought_signature: callSignature } } };
}

function writeToolResult(turn: ToolTurn, profile: ChatProfile): object {
  return {
    role: 'tool',
    tool_call_id: toolIdFor(profile.toolIds, turn.toolCallId),
    content: writeText(resultText(turn, profile), profile),
  };
}
