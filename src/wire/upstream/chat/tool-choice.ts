// Writes the tools of a chat-completions request and the choice among them, according to the
// upstream's profile.

import type { GenerationRequest, Tool, ToolChoice } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import type { Members } from '../extra-body.ts';

/** The tools sent to this upstream; none if tools are forbidden and the server ignores that. */
export function offeredTools(request: GenerationRequest, profile: ChatProfile): readonly Tool[] {
  const { tools, toolChoice } = request;
  if (toolChoice?.kind === 'none' && profile.forbiddenChoice === 'drop_tools') return [];
  if (toolChoice?.kind !== 'tool' || profile.forcedChoice !== 'required') return tools;
  const named = tools.filter((tool) => tool.name === toolChoice.name);
  return named.length === 0 ? tools : named;
}

/** Whether the answer has to call a tool: this one, or any. */
export function isForced(choice: ToolChoice | undefined): boolean {
  return choice?.kind === 'tool' || choice?.kind === 'required';
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
  const { toolChoice, parallelToolCalls } = request;
  body['tools'] = tools.map(writeTool);
  body['tool_choice'] =
    toolChoice === undefined ? undefined : writeChoice(toolChoice, thinks, profile);
  body['parallel_tool_calls'] =
    profile.parallelToolCalls === 'send' ? parallelToolCalls : undefined;
}

function writeTool({ name, description, parameters }: Tool): object {
  return { type: 'function', function: { name, description, parameters } };
}

function writeChoice(
  choice: ToolChoice,
  thinks: boolean,
  { forcedChoice }: ChatProfile,
): string | object {
  if (isForced(choice)) {
    if (forcedChoice === 'auto' || (forcedChoice === 'auto_when_thinking' && thinks)) return 'auto';
    if (forcedChoice === 'required') return 'required';
  }
  return choice.kind === 'tool'
    ? { type: 'function', function: { name: choice.name } }
    : choice.kind;
}
