// Writes the `messages` of a chat-completions request: each turn as one upstream accepts it. The
// turns are already in order.

import type {
  AssistantTurn,
  ContentPart,
  GenerationRequest,
  ToolCall,
  ToolTurn,
  Turn,
} from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import type { UpstreamCall } from '../../format.ts';
import { toolInput } from '../../tool-input.ts';
import { toolIdFor } from '../tool-id.ts';
import { isThinking } from './reasoning.ts';
import { isContinued } from './turns.ts';

/** The format has no flag for a failed tool, and the model must not mistake it for a success. */
const TOOL_ERROR_MARK = 'The tool reported an error:\n';

type Style = {
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
  const style = { profile, reasons: call.reasons, thinks: isThinking(request, call) };
  const messages: object[] = [];
  if (request.system !== '') {
    messages.push({ role: 'system', content: writeText(request.system, profile) });
  }
  for (const turn of turns) messages.push(writeTurn(turn, style));
  if (profile.prefill === 'prefix' && isContinued(turns)) {
    messages.push({ ...messages.pop(), prefix: true });
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
  if (parts.some(isImage) || profile.contentParts === 'always') {
    return written(parts.flatMap(writePart));
  }
  let content = '';
  for (const part of parts) {
    if (part.kind === 'text' && part.text !== '') content += (content && '\n') + part.text;
  }
  return content;
}

function isImage(part: ContentPart): boolean {
  return part.kind === 'image';
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
  const hasCalls = turn.toolCalls.length > 0;
  const isNull = hasCalls && turn.text === '' && profile.contentBesideCalls === 'null';
  return {
    role: 'assistant',
    name: turn.name,
    content: isNull ? null : writeText(turn.text, profile),
    ...writeEarlierThinking(turn, style),
    tool_calls: hasCalls ? writeToolCalls(turn.toolCalls, profile) : undefined,
  };
}

/**
 * Thinking is sent back only to a model that reasons. Some of those refuse a tool turn without it,
 * while servers of other models refuse an unknown field.
 */
function writeEarlierThinking({ reasoning }: AssistantTurn, style: Style): object {
  const { reasoningField: field, lostReasoning } = style.profile;
  if (field === 'none' || !style.reasons) return {};
  const isWritten = reasoning !== '' || (lostReasoning === 'empty' && style.thinks);
  return isWritten ? { [field]: reasoning } : {};
}

function writeToolCalls(calls: readonly ToolCall[], profile: ChatProfile): object[] {
  const { callSignature: signature } = profile;
  return calls.map((call, at) => ({
    id: toolIdFor(profile.toolIds, call.id),
    type: 'function',
    // vLLM, SGLang and llama.cpp parse them: one truncated call would end the conversation.
    function: { name: call.name, arguments: toolInput(call.arguments) },
    ...(at === 0 && signature !== ''
      ? { extra_content: { google: { thought_signature: signature } } }
      : {}),
  }));
}

function writeToolResult(turn: ToolTurn, profile: ChatProfile): object {
  const text = turn.text === '' ? profile.emptyToolResult : turn.text;
  return {
    role: 'tool',
    tool_call_id: toolIdFor(profile.toolIds, turn.toolCallId),
    content: writeText(turn.isError ? TOOL_ERROR_MARK + text : text, profile),
  };
}
