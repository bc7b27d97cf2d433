// Writes a forced tool as an instruction, for models whose server refuses or ignores such a choice.

import type { GenerationRequest } from './generation.ts';

/** Appends the instruction to the system prompt; the same request if no tool is forced. */
export function withToolInstruction(request: GenerationRequest): GenerationRequest {
  const instruction = request.tools.length === 0 ? '' : toolInstruction(request);
  if (instruction === '') return request;
  const parts = [request.system, instruction].filter((part) => part.trim() !== '');
  return { ...request, system: parts.join('\n\n') };
}

function toolInstruction({ tools, toolChoice }: GenerationRequest): string {
  const names = tools.map(({ name }) => JSON.stringify(name)).join(', ');
  switch (toolChoice?.kind) {
    case 'tool':
      return `Answer with a call of the tool ${JSON.stringify(toolChoice.name)}, and with nothing before it.`;
    case 'required':
      return `Answer with a call of one of these tools, and with nothing before it: ${names}.`;
    default:
      return '';
  }
}
