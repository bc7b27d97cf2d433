// The text and the thinking of one delta or one whole message, for the chunk reader and its fast
// path. Each tolerance names its server in a comment.

import type { GenerationEvent, JsonObject } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import type { LaneKind } from '../frame.ts';
import { hasValue, toList, toObject, toText } from '../narrow.ts';

export type PlainDelta = Extract<
  GenerationEvent,
  { readonly kind: 'reasoning-delta' | 'text-delta' }
>;

/** The events that are nothing but such a delta, for the fast path. */
export const PLAIN_LANE: LaneKind<PlainDelta> = {
  read: readPlainDelta,
  withText: ({ kind }, text) => ({ kind, text }),
};

/** Receives the text and the thinking of an answer, piece by piece. */
export type DeltaSink = { readonly push: (delta: PlainDelta) => void };

/** The field's name differs by server; those that send both fields send the same text in each. */
export function readReasoning(delta: JsonObject): string {
  return (
    toText(delta['reasoning_content']) ||
    // vLLM, Ollama, OpenRouter.
    toText(delta['reasoning']) ||
    // Mistral: parts of the content, each with text parts of its own.
    joinParts(delta['content'], readThinkingPart) ||
    // MiniMax.
    joinParts(delta['reasoning_details'], readDetail)
  );
}

export function readAnswerText(delta: JsonObject): string {
  return readText(delta['content']) || toText(delta['refusal']);
}

/**
 * The delta of a successfully read chunk, if it has only text or only reasoning and nothing else:
 * no usage, finish reason, tool call or second choice.
 */
export function readPlainDelta(value: unknown): PlainDelta | undefined {
  if (!isObject(value) || hasValue(value['usage'])) return undefined;
  const [choice, ...others] = toList(value['choices']);
  if (others.length > 0 || !isObject(choice) || hasValue(choice['usage'])) return undefined;
  if ((choice['index'] ?? 0) !== 0 || toText(choice['finish_reason']) !== '') return undefined;
  const delta = toObject(choice['delta']);
  const hasCalls = toList(delta['tool_calls']).length > 0 || isObject(delta['function_call']);
  // Their entries are kept as well.
  if (hasCalls || hasValue(delta['reasoning_details'])) return undefined;
  const reasoning = readReasoning(delta);
  const text = readAnswerText(delta);
  if ((reasoning === '') === (text === '')) return undefined;
  return reasoning === ''
    ? { kind: 'text-delta', text }
    : { kind: 'reasoning-delta', text: reasoning };
}

function readThinkingPart(part: unknown): string {
  const { type, thinking } = toObject(part);
  return type === 'thinking' ? readText(thinking) : '';
}

function readDetail(entry: unknown): string {
  const { text, summary } = toObject(entry);
  return toText(text) || toText(summary);
}

/** A string, or the text parts of an array. */
function readText(content: unknown): string {
  return typeof content === 'string' ? content : joinParts(content, readTextPart);
}

function readTextPart(part: unknown): string {
  if (typeof part === 'string') return part;
  const { type, text } = toObject(part);
  return type === 'text' || type === undefined ? toText(text) : '';
}

function joinParts(content: unknown, read: (part: unknown) => string): string {
  return Array.isArray(content) ? content.map(read).join('') : '';
}
