// Maps an upstream's finish reason, at the end of an answer. Both dialects share one table, because
// gateways between them pass on either format's words. Comments name the server of each word that
// belongs to neither format.

import type { FailureClass, UpstreamFailure } from '../../core/failure.ts';
import type { FinishReason, GenerationEvent, ThinkingBlock } from '../../core/generation.ts';

/**
 * The words for an answer that was cut: `length` and `max_tokens`, and from gateways also
 * `max_output_tokens`, `model_length`, `model_context_window_exceeded`, `incomplete`, `token_limit`.
 */
const CUT = /^(?!.*rate.?limit).*(?:length|max|limit|context|incomplete|truncat)/;

/** Another word counts as a stop: the model did end, and clients cannot handle unknown words. */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  // Responses servers.
  ['completed', 'stop'],
  ['steered', 'stop'],
  // Together; Text Generation Inference; Cohere.
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['complete', 'stop'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  // The predecessor of `tool_calls`, which allowed only one call.
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
  // Z.ai.
  ['sensitive', 'content_filter'],
  // Bedrock.
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  // Gemini, as its gateways pass it on.
  ['recitation', 'content_filter'],
  ['prohibited_content', 'content_filter'],
  ['blocklist', 'content_filter'],
  ['spii', 'content_filter'],
  ['insufficient_system_resource', 'insufficient_system_resource'],
]);

/** Words for an answer that did not end by itself. */
const BROKEN_FINISHES: ReadonlyMap<string, FailureClass> = new Map([
  // OpenRouter, Mistral.
  ['error', 'server_error'],
  // Z.ai.
  ['network_error', 'server_error'],
  // vLLM, SGLang.
  ['abort', 'cut'],
  // Servers and gateways that timed out or were stopped.
  ['aborted', 'cut'],
  ['cancelled', 'cut'],
  ['canceled', 'cut'],
  ['timeout', 'timeout'],
  // Gemini, which then omits the call: an empty answer would end an agent's work.
  ['malformed_function_call', 'malformed'],
  ['unexpected_tool_call', 'malformed'],
  ['function_call_filter', 'malformed'],
]);

/** Of an unknown word, which may be long. */
const UNKNOWN_LENGTH = 40;

const OWN_REASON = /:.*/s;

/** `word` is the upstream's, in any case; empty if it has sent none. */
export function readFinish(word: string): FinishReason | UpstreamFailure {
  if (word === '') return { class: 'cut', detail: 'the stream ended without a finish reason' };
  const known = plainWord(word);
  const broken = BROKEN_FINISHES.get(known);
  if (broken !== undefined) {
    return { class: broken, detail: 'the upstream gave up in the middle of its answer' };
  }
  return FINISH_REASONS.get(known) ?? (CUT.test(known) ? 'length' : 'stop');
}

/** Gemini appends its own reason: `content_filter: RECITATION`. */
function plainWord(word: string): string {
  return word.toLowerCase().replace(OWN_REASON, '');
}

/**
 * The finish event of an answer. `word` is the upstream's, `event` a type of events that the reader
 * does not know.
 */
export function finishEvent(
  reason: FinishReason,
  word: string,
  thinking?: readonly ThinkingBlock[],
  event?: string,
): GenerationEvent {
  const known = plainWord(word);
  const isKnown = FINISH_REASONS.has(known) || CUT.test(known);
  const unknown = isKnown ? event : word;
  return {
    kind: 'finish',
    reason,
    ...(thinking && { thinking }),
    ...(unknown && {
      unknown: {
        what: isKnown ? 'event' : 'finish_reason',
        word: unknown.slice(0, UNKNOWN_LENGTH),
      },
    }),
  };
}

/**
 * The later of two finish reasons counts, unless it is less specific: gateways close a stream with
 * a `stop` of their own, and a truncated answer would look complete.
 */
export function laterFinish(known: string, word: string): string {
  if (word === '') return known;
  return known !== '' && readFinish(word) === 'stop' ? known : word;
}

/** Whether the answer was truncated, so its last tool call may be incomplete. */
export function wasCut(meant: FinishReason): boolean {
  return meant !== 'stop' && meant !== 'tool_calls';
}

/**
 * Many servers report `stop` after tool calls, and clients then never run them; conversely, a
 * client that expects tool calls where there are none waits forever. A truncated or filtered answer
 * keeps its reason. An answer without content for lack of capacity is a failure, so another
 * upstream may answer.
 */
export function repairFinish(
  meant: FinishReason,
  hasToolCalls: boolean,
  hasContent: boolean,
): FinishReason | UpstreamFailure {
  if (meant === 'insufficient_system_resource' && !hasContent) {
    return { class: 'overloaded', detail: 'the upstream had no capacity for an answer' };
  }
  if (meant === 'stop' && hasToolCalls) return 'tool_calls';
  return meant === 'tool_calls' && !hasToolCalls ? 'stop' : meant;
}
