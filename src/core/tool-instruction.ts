// Writes a forced tool as an instruction, for models whose server refuses or ignores such a choice.

import type { GenerationRequest } from './generation.ts';

type Choosing = Pick<GenerationRequest, 'tools' | 'toolChoice'>;

/** Whether the answer has to call a tool: this one, or any. */
export function isForced({ tools, toolChoice: choice }: Choosing): boolean {
  return tools.length > 0 && (choice?.kind === 'tool' || choice?.kind === 'required');
}

/** Appends the instruction to the system prompt; the same request if no tool is forced. */
export function withToolInstruction(request: GenerationRequest): GenerationRequest {
  if (!isForced(request)) return request;
  const parts = [request.system, toolInstruction(request)].filter((part) => part.trim() !== '');
  return { ...request, system: parts.join('\n\n') };
}

function toolInstruction({ tools, toolChoice }: Choosing): string {
  const names = tools.map(({ name }) => JSON.stringify(name)).join(', ');
  return toolChoice?.kind === 'tool'
    ? `Answer with a call of the tool ${JSON.stringify(toolChoice.name)}, and with nothing before it.`
    : `Answer with a call of one of these tools, and with nothing before it: ${names}.`;
}
