// What an upstream's finish reason means. Called by the readers of both dialects when an answer is
// over: the words of both formats are read alike, because gateways between them pass on either.
// Every word that is neither format's own has the server it is from in a comment.

import type { FailureClass, UpstreamFailure } from '../../core/failure.ts';
import type { FinishReason } from '../../core/generation.ts';

/**
 * A word that is not listed is a stop: the model did end, and clients make nothing of words that
 * they do not know.
 */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  // Gateways before Responses servers.
  ['max_output_tokens', 'length'],
  // Mistral.
  ['model_length', 'length'],
  // Z.ai, and gateways before Messages servers.
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  // What tool calls were called before there could be several of them.
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
  // Servers and gateways that gave up waiting, or were told to stop.
  ['aborted', 'cut'],
  ['cancelled', 'cut'],
  ['canceled', 'cut'],
  ['timeout', 'timeout'],
  // Gemini, which then shows nothing of the call: an empty answer would end an agent's work.
  ['malformed_function_call', 'malformed'],
  ['unexpected_tool_call', 'malformed'],
  ['function_call_filter', 'malformed'],
]);

const OWN_REASON = /:.*/s;

/** `word` is the upstream's in any case; empty where it has sent none. */
export function readFinish(word: string): FinishReason | UpstreamFailure {
  if (word === '') return { class: 'cut', detail: 'the stream ended without a finish reason' };
  // Gemini adds a reason of its own: `content_filter: RECITATION`.
  const known = word.toLowerCase().replace(OWN_REASON, '');
  const broken = BROKEN_FINISHES.get(known);
  if (broken !== undefined) {
    return { class: broken, detail: 'the upstream gave up in the middle of its answer' };
  }
  return FINISH_REASONS.get(known) ?? 'stop';
}

/**
 * Of two finish reasons in one answer the later one counts, unless it says less: gateways close a
 * stream with a `stop` of their own, and an answer that was cut would look whole.
 */
export function laterFinish(known: string, word: string): string {
  if (word === '') return known;
  return known !== '' && readFinish(word) === 'stop' ? known : word;
}

/** Whether something other than the model ended the answer: its last tool call may be torn. */
export function wasCut(meant: FinishReason): boolean {
  return meant !== 'stop' && meant !== 'tool_calls';
}

/**
 * Many servers say `stop` after tool calls, and clients then never run them; a client that is told
 * of tool calls where there are none waits for nothing. A cut or filtered answer stays one. An answer
 * without content that its upstream had no capacity for is a failure, and another one may answer.
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
