// Writes the instruction about the answer's format, for servers without a switch for it. The
// request writers and the estimate share it, so the same text is counted. It depends only on the
// start of a conversation, because upstreams cache prompt prefixes.

import type { AnswerSchema, GenerationRequest, Turn } from './generation.ts';

type Wanted = Partial<Pick<GenerationRequest, 'json' | 'schema' | 'saysSchema'>>;

const OBJECT = 'Answer with one JSON object and nothing else: no text around it, no code fence.';
const MATCHING = 'Answer with JSON and nothing else: no text around it, no code fence.';

/** The instruction for a JSON answer; empty if none was requested. It always contains "JSON". */
export function formatInstruction({ json, schema, saysSchema }: Wanted): string {
  if (json !== true) return '';
  if (schema === undefined) return OBJECT;
  if (saysSchema === true) return MATCHING;
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

/** UTF-16 units of a prompt's head, and of a schema, that are compared: 5 ms. */
const SEARCHED_LENGTH_MAX = 131_072;

/**
 * Whether the system prompt or the first turn contains the schema, however it is spaced: the
 * contract wants it there, and another copy would cost its tokens again.
 */
export function saysSchema(
  { schema }: AnswerSchema,
  { system, turns: [first] }: Pick<GenerationRequest, 'system' | 'turns'>,
): boolean {
  const wanted = JSON.stringify(schema);
  const head = [system, ...turnTexts(first)].join('\n');
  if (Math.max(wanted.length, head.length) > SEARCHED_LENGTH_MAX) return false;
  return withoutSpace(head).includes(withoutSpace(wanted));
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

function turnTexts(turn: Turn | undefined): string[] {
  if (turn === undefined) return [];
  if (turn.role !== 'user') return [turn.text];
  return turn.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
}
