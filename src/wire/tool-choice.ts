// Applies a caller's choice to the tools of a request: what is offered, and what must be called.

import { invalidRequest } from '../core/error.ts';
import type { Tool, ToolChoice } from '../core/generation.ts';

/** A choice that offers only some of the tools. */
export type AllowedTools = {
  readonly kind: 'allowed';
  readonly mode: 'auto' | 'required';
  readonly names: readonly string[];
};

export type Choice = ToolChoice | AllowedTools;

/**
 * The tools to offer and the choice among them. Of allowed tools, only those are offered, since few
 * upstreams could be kept from the others. Without tools there is nothing to choose from.
 */
export function chosenTools(
  tools: readonly Tool[],
  choice: Choice | undefined,
): { readonly tools: readonly Tool[]; readonly choice: ToolChoice | undefined } {
  if (choice === undefined) return { tools, choice };
  if (choice.kind === 'allowed') {
    const names = new Set(choice.names);
    const allowed = tools.filter((tool) => names.has(tool.name));
    if (allowed.length < names.size) {
      throw invalidRequest('tool_choice', 'allows a tool that is not in tools');
    }
    return { tools: allowed, choice: { kind: choice.mode } };
  }
  if (choice.kind === 'tool' && !tools.some((tool) => tool.name === choice.name)) {
    throw invalidRequest('tool_choice', 'names a function that is not in tools');
  }
  if (tools.length > 0) return { tools, choice };
  if (choice.kind === 'required') throw invalidRequest('tool_choice', 'needs tools to choose from');
  return { tools, choice: undefined };
}
