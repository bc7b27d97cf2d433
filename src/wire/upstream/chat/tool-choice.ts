// Writes the tools of a chat-completions request and the choice among them, according to the
// upstream's profile.

import type { GenerationRequest, JsonObject, Tool, ToolChoice } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { withToolInstruction } from '../../../core/tool-instruction.ts';
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

/** The request with the forced tool as an instruction, for servers that do not take the choice. */
export function withInstructedTool(
  request: GenerationRequest,
  profile: ChatProfile,
): GenerationRequest {
  return isInstructed(request, profile) ? withToolInstruction(request) : request;
}

function isInstructed(
  { tools, toolChoice }: Pick<GenerationRequest, 'tools' | 'toolChoice'>,
  { forcedChoice }: ChatProfile,
): boolean {
  if (!isForced(toolChoice)) return false;
  if (forcedChoice === 'instruct') return true;
  return forcedChoice === 'by_name' && toolChoice?.kind === 'required' && tools.length > 1;
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
  body['tools'] = tools.map((tool) => writeTool(tool, profile));
  body['tool_choice'] =
    toolChoice === undefined ? undefined : writeChoice(toolChoice, request, thinks, profile);
  body['parallel_tool_calls'] =
    profile.parallelToolCalls === 'send' ? parallelToolCalls : undefined;
}

function writeTool({ name, description, parameters: given }: Tool, profile: ChatProfile): object {
  const parameters = profile.toolSchemas === 'properties' ? withProperties(given) : given;
  return {
    type: 'function',
    function: { name, description, parameters },
  };
}

/** OpenAI answers 400 "object schema missing properties". */
function withProperties(parameters: JsonObject): JsonObject {
  const lacks = parameters['type'] === 'object' && parameters['properties'] === undefined;
  return lacks ? { ...parameters, properties: {} } : parameters;
}

function writeChoice(
  choice: ToolChoice,
  { tools }: GenerationRequest,
  thinks: boolean,
  profile: ChatProfile,
): string | object {
  const { forcedChoice } = profile;
  if (isForced(choice)) {
    if (isInstructed({ tools, toolChoice: choice }, profile)) return 'auto';
    if (forcedChoice === 'by_name') return namedChoice(choice.kind === 'tool' ? choice : tools[0]);
    if (forcedChoice === 'auto' || (forcedChoice === 'auto_when_thinking' && thinks)) return 'auto';
    if (forcedChoice === 'required') return 'required';
  }
  return choice.kind === 'tool' ? namedChoice(choice) : choice.kind;
}

function namedChoice(tool: { readonly name: string } | undefined): object | string {
  return tool === undefined ? 'auto' : { type: 'function', function: { name: tool.name } };
}
