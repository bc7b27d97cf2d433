// The instruction about the form of an answer, for servers that have no switch for it. Called by
// the request writers, and by the estimate, which therefore counts the same text. The text depends
// on the head of a conversation alone: prompt prefixes are cached upstream.

import type { GenerationRequest, Turn } from './generation.ts';

type Wanted = Partial<Pick<GenerationRequest, 'json' | 'schema'>>;

const OBJECT = 'Answer with one JSON object and nothing else: no text around it, no code fence.';
const MATCHING = 'Answer with JSON and nothing else: no text around it, no code fence.';

/** The instruction for a request that wants JSON; empty for any other. It always says "JSON". */
export function formatInstruction({ json, schema }: Wanted): string {
  if (json !== true) return '';
  if (schema === undefined) return OBJECT;
  const purpose = schema.description === undefined ? '' : `\n${schema.description}`;
  return `${MATCHING} It must match this JSON schema:${purpose}\n${JSON.stringify(schema.schema)}`;
}

/** The same request, with the instruction at the end of its system prompt. */
export function withInstruction(request: GenerationRequest): GenerationRequest {
  const parts = [request.system, formatInstruction(request)].filter((part) => part.trim() !== '');
  return { ...request, system: parts.join('\n\n') };
}

/**
 * Whether the system prompt or the first turn says "JSON", as servers require where their JSON mode
 * is on. A word in a later turn counts at such servers too, but not here: the instruction would
 * disappear from the front of a conversation that has already been cached with it.
 */
export function saysJson({ system, turns: [first] }: GenerationRequest): boolean {
  return [system, ...turnTexts(first)].some((text) => /json/i.test(text));
}

function turnTexts(turn: Turn | undefined): string[] {
  if (turn === undefined) return [];
  if (turn.role !== 'user') return [turn.text];
  return turn.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
}
