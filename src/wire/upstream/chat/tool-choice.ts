// Writes the tools of a chat-completions request and the choice among them, according to the
// upstream's profile.

import type { GenerationRequest, Tool } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { isForced, withToolInstruction } from '../../../core/tool-instruction.ts';
import type { Members } from '../extra-body.ts';

/** The tools sent to this upstream; none if tools are forbidden and the server ignores that. */
export function offeredTools(request: GenerationRequest, profile: ChatProfile): readonly Tool[] {
  const { tools, toolChoice } = request;
  if (toolChoice?.kind === 'none' && profile.forbiddenChoice === 'drop_tools') return [];
  if (toolChoice?.kind !== 'tool' || profile.forcedChoice !== 'required') return tools;
  const named = tools.filter((tool) => tool.name === toolChoice.name);
  return named.length === 0 ? tools : named;
}

/** The request with the forced tool as an instruction, for servers that do not take the choice. */
export function withInstructedTool(
  request: GenerationRequest,
  profile: ChatProfile,
): GenerationRequest {
  return isInstructed(request, profile) ? withToolInstruction(request) : request;
}

function isInstructed(request: GenerationRequest, { forcedChoice }: ChatProfile): boolean {
  const { tools, toolChoice } = request;
  const hasNoName = toolChoice?.kind === 'required' && tools.length > 1;
  return (
    isForced(request) && (forcedChoice === 'instruct' || (forcedChoice === 'by_name' && hasNoName))
  );
}

/** Servers refuse a tool choice without tools. */
export function writeTools(
  body: Members,
  request: GenerationRequest,
  thinks: boolean,
  profile: ChatProfile,
): void {
  const tools = offeredTools(request, profile);
  if (tools.length === 0) return;
  const isSent = profile.parallelToolCalls === 'send';
  body['tools'] = tools.map(writeTool);
  body['tool_choice'] = writeChoice(request, thinks, profile);
  body['parallel_tool_calls'] = isSent ? request.parallelToolCalls : undefined;
}

function writeTool({ name, description, parameters }: Tool): object {
  return { type: 'function', function: { name, description, parameters } };
}

function writeChoice(
  request: GenerationRequest,
  thinks: boolean,
  profile: ChatProfile,
): string | object | undefined {
  const { tools, toolChoice: choice } = request;
  const { forcedChoice } = profile;
  if (isForced(request)) {
    if (isInstructed(request, profile)) return 'auto';
    if (forcedChoice === 'auto' || (forcedChoice === 'auto_when_thinking' && thinks)) return 'auto';
    if (forcedChoice === 'required') return 'required';
  }
  const isOnly = choice?.kind === 'required' && forcedChoice === 'by_name';
  const name = choice?.kind === 'tool' ? choice.name : isOnly && tools[0]?.name;
  return name ? { type: 'function', function: { name } } : choice?.kind;
}
