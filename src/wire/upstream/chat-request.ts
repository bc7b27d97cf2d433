// A request as a chat-completions upstream takes it. The same request always gives the same bytes,
// and nothing of ours (no id, no user) is in them: upstream prompt caches compare prefixes.

import type { UpstreamFailure } from '../../core/failure.ts';
import type {
  AssistantTurn,
  ContentPart,
  GenerationRequest,
  Tool,
  ToolCall,
  ToolChoice,
  Turn,
} from '../../core/generation.ts';
import type { ChatProfile } from '../../core/profile.ts';
import type { UpstreamCall } from '../format.ts';
import { foldSystem } from './fold-system.ts';

/** The format has no flag for a tool that failed, and the model must not take it for a success. */
const TOOL_ERROR_MARK = 'The tool reported an error:\n';

/** The JSON text of the request. Absent members are left out, never sent as null. */
export function writeChatRequest(
  request: GenerationRequest,
  call: UpstreamCall,
  _profile: ChatProfile,
): string | UpstreamFailure {
  return JSON.stringify({
    model: call.model,
    messages: writeMessages(request, call),
    max_tokens: call.maxOutputTokens,
    temperature: request.temperature,
    top_p: request.topP,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    stop: request.stop.length === 0 ? undefined : request.stop,
    ...writeTools(request),
    response_format: request.json ? { type: 'json_object' } : undefined,
    ...writeReasoning(request, call),
    ...(call.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
}

function writeMessages(request: GenerationRequest, call: UpstreamCall): object[] {
  const messages: object[] = foldSystem(request.turns).map((turn) => writeTurn(turn, call.reasons));
  if (request.system !== '') messages.unshift({ role: 'system', content: request.system });
  return messages;
}

function writeTurn(turn: Turn, reasons: boolean): object {
  switch (turn.role) {
    case 'user':
      return { role: 'user', content: writeContent(turn.parts) };
    case 'assistant':
      return writeAssistant(turn, reasons);
    case 'system':
      return { role: 'system', content: turn.text };
    case 'tool':
      return {
        role: 'tool',
        tool_call_id: turn.toolCallId,
        content: turn.isError ? TOOL_ERROR_MARK + turn.text : turn.text,
      };
  }
}

/** Text alone is one string, since some servers refuse an array; images need one. */
function writeContent(parts: readonly ContentPart[]): string | object[] {
  if (parts.some((part) => part.kind === 'image')) return parts.flatMap(writePart);
  return parts
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

/** Servers refuse empty text parts. */
function writePart(part: ContentPart): object[] {
  if (part.kind === 'image') return [{ type: 'image_url', image_url: { url: part.url } }];
  return part.text === '' ? [] : [{ type: 'text', text: part.text }];
}

/**
 * Reasoning goes back only to a model that reasons: some of those refuse a tool turn without it,
 * and servers of other models refuse a field that they do not know.
 */
function writeAssistant(turn: AssistantTurn, reasons: boolean): object {
  const hasCalls = turn.toolCalls.length > 0;
  return {
    role: 'assistant',
    content: turn.text === '' && hasCalls ? null : turn.text,
    reasoning_content: reasons && turn.reasoning !== '' ? turn.reasoning : undefined,
    tool_calls: hasCalls ? turn.toolCalls.map(writeToolCall) : undefined,
  };
}

function writeToolCall(call: ToolCall): object {
  const written = call.arguments === '' ? '{}' : call.arguments;
  return { id: call.id, type: 'function', function: { name: call.name, arguments: written } };
}

/** Servers refuse a choice of tools where there are none. */
function writeTools(request: GenerationRequest): object {
  if (request.tools.length === 0) return {};
  return {
    tools: request.tools.map(writeTool),
    tool_choice: request.toolChoice === undefined ? undefined : writeToolChoice(request.toolChoice),
    parallel_tool_calls: request.parallelToolCalls,
  };
}

function writeTool({ name, description, parameters }: Tool): object {
  return { type: 'function', function: { name, description, parameters } };
}

function writeToolChoice(choice: ToolChoice): string | object {
  return choice.kind === 'tool'
    ? { type: 'function', function: { name: choice.name } }
    : choice.kind;
}

/**
 * There is no common spelling. Sent are DeepSeek's `thinking` for on and off, and beside it the
 * widespread `reasoning_effort` for a depth. A model that cannot reason is sent neither.
 */
function writeReasoning(request: GenerationRequest, call: UpstreamCall): object {
  const { reasoning } = request;
  if (!call.reasons || reasoning === undefined) return {};
  if (reasoning === 'off') return { thinking: { type: 'disabled' } };
  if (reasoning === 'on') return { thinking: { type: 'enabled' } };
  return { thinking: { type: 'enabled' }, reasoning_effort: reasoning };
}
