// Writes the tools of a Responses request and the choice among them, according to the upstream's
// profile. Tools are flat here: their members stand beside the type.

import type { GenerationRequest, JsonObject, Tool } from '../../../core/generation.ts';
import type { ResponsesProfile } from '../../../core/responses-profile.ts';
import { isForced } from '../../../core/tool-instruction.ts';

/** Servers refuse a tool choice without tools. */
export function writeTools(request: GenerationRequest, profile: ResponsesProfile): object {
  const { tools, parallelToolCalls } = request;
  if (tools.length === 0) return {};
  const isHeld = profile.forcedChoice === 'auto' || profile.forcedChoice === 'instruct';
  return {
    tools: tools.map((tool) => (isCustom(tool, profile) ? writeCustom(tool) : writeTool(tool))),
    tool_choice: isForced(request) && isHeld ? 'auto' : writeChoice(request, profile),
    parallel_tool_calls: profile.parallelToolCalls === 'send' ? parallelToolCalls : undefined,
  };
}

/** Whether the tool is declared as the client did, with text for input. */
export function isCustom({ custom }: Tool, profile: ResponsesProfile): boolean {
  return custom !== undefined && profile.customTools === 'send';
}

function writeCustom({ name, custom: { description, grammar } = {} }: Tool): object {
  const format = grammar === undefined ? undefined : { type: 'grammar', ...grammar };
  return { type: 'custom', name, description, format };
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

function writeChoice(
  { tools, toolChoice: choice }: GenerationRequest,
  profile: ResponsesProfile,
): unknown {
  if (choice?.kind !== 'tool') return choice?.kind;
  const { name } = choice;
  const isText = tools.some((tool) => tool.name === name && isCustom(tool, profile));
  return { type: isText ? 'custom' : 'function', name };
}
