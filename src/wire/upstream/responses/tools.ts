// Writes the tools of a Responses request and the choice among them, according to the upstream's
// profile. Tools are flat here: their members stand beside the type.

import type { GenerationRequest, JsonObject, Tool, ToolChoice } from '../../../core/generation.ts';
import type { ResponsesProfile } from '../../../core/responses-profile.ts';

/** Whether the answer has to call a tool: this one, or any. */
export function isForced({ tools, toolChoice: choice }: GenerationRequest): boolean {
  return tools.length > 0 && (choice?.kind === 'tool' || choice?.kind === 'required');
}

/** Servers refuse a tool choice without tools. */
export function writeTools(request: GenerationRequest, profile: ResponsesProfile): object {
  const { tools, toolChoice, parallelToolCalls } = request;
  if (tools.length === 0) return {};
  const isHeld = profile.forcedChoice === 'auto' || profile.forcedChoice === 'instruct';
  return {
    tools: tools.map(writeTool),
    tool_choice: isForced(request) && isHeld ? 'auto' : writeChoice(toolChoice),
    parallel_tool_calls: profile.parallelToolCalls === 'send' ? parallelToolCalls : undefined,
  };
}

/** Without `strict`, the server would change the schema, or refuse one that it cannot enforce. */
function writeTool({ name, description, parameters }: Tool): object {
  return { type: 'function', name, description, parameters: asObject(parameters), strict: false };
}

/** "object schema missing properties" is a 400, and so is a schema of any other type. */
function asObject(schema: JsonObject): JsonObject {
  const typed = schema['type'] === 'object' ? schema : { ...schema, type: 'object' };
  return typed['properties'] === undefined ? { ...typed, properties: {} } : typed;
}

function writeChoice(choice: ToolChoice | undefined): unknown {
  return choice?.kind === 'tool' ? { type: 'function', name: choice.name } : choice?.kind;
}
