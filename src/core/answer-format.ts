// Writes the instruction about the answer's format, for servers without a switch for it. The
// request writers and the estimate share it, so the same text is counted. It depends only on the
// start of a conversation, because upstreams cache prompt prefixes.

import type { GenerationRequest, Turn } from './generation.ts';

type Wanted = Partial<Pick<GenerationRequest, 'json' | 'schema'>>;

const OBJECT = 'Answer with one JSON object and nothing else: no text around it, no code fence.';
const MATCHING = 'Answer with JSON and nothing else: no text around it, no code fence.';

/** The instruction for a JSON answer; empty if none was requested. It always contains "JSON". */
export function formatInstruction({ json, schema }: Wanted): string {
  if (json !== true) return '';
  if (schema === undefined) return OBJECT;
  const purpose = schema.description === undefined ? '' : `\n${schema.description}`;
  return `${MATCHING} It must match this JSON schema:${purpose}\n${JSON.stringify(schema.schema)}`;
}

/** Appends the instruction to the system prompt. */
export function withInstruction(request: GenerationRequest): GenerationRequest {
  const parts = [request.system, formatInstruction(request)].filter((part) => part.trim() !== '');
  return { ...request, system: parts.join('\n\n') };
}

/**
 * Whether the system prompt or the first turn contains "JSON", which servers require in JSON mode.
 * Such servers accept the word in a later turn too. This check does not, because the instruction
 * would then vanish from a prefix that is already cached with it.
 */
export function saysJson({ system, turns: [first] }: GenerationRequest): boolean {
  return [system, ...turnTexts(first)].some((text) => /json/i.test(text));
}

function turnTexts(turn: Turn | undefined): string[] {
  if (turn === undefined) return [];
  if (turn.role !== 'user') return [turn.text];
  return turn.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
}
