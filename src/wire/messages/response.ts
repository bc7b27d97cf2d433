// Encodes a whole answer in the Messages format, and what it shares with streams: the stop reason,
// the usage, the signature of thinking and the error envelope. Tool inputs are inserted as text:
// parsing and printing would change the bytes that the model wrote.

import type { GatewayError } from '../../core/error.ts';
import type { Answer, FinishReason, Receipt } from '../../core/generation.ts';
import { bill, estimateMember } from '../bill.ts';
import type { AnswerHead } from '../format.ts';
import { isWholeJson, toolInput } from '../tool-input.ts';
import { encodeToolId } from './tool-id.ts';

/**
 * The constant signature of all thinking blocks, whichever upstream they came from. Clients only
 * check that there is one: without it they drop the thinking from their history. It proves nothing
 * and is not verified; signatures of upstreams are never sent to clients.
 */
export const THINKING_SIGNATURE = 'tg1.dG9sbGdhdGU=';

export type StopReason = 'end_turn' | 'max_tokens' | 'tool_use';

/** The JSON text of a whole answer. */
export function encodeResponse(head: AnswerHead, answer: Answer, receipt: Receipt): string {
  const callArguments = answer.toolCalls.map((call) => call.arguments);
  const reason = stopReason(answer.finish, callArguments, receipt);
  const details = JSON.stringify(stopDetails(answer.finish)).slice(1, -1).replace(/.$/, '$&,');
  return (
    `{"id":${JSON.stringify(messageId(head))},"type":"message","role":"assistant",` +
    `"model":${JSON.stringify(head.model)},"content":[${blocks(head, answer).join(',')}],` +
    `"stop_reason":"${reason}","stop_sequence":null,${details}"usage":${JSON.stringify(usage(receipt))}}`
  );
}

/** The JSON text of an error. `receipt` is set if the error ended a stream that was charged. */
export function encodeError(error: GatewayError, requestId: string, receipt?: Receipt): string {
  const body = {
    type: error.messagesType,
    message: error.message,
    code: error.code,
    request_id: requestId,
    ...(error.param === undefined ? {} : { param: error.param }),
    ...(error.hint === undefined ? {} : { details: { error_code: error.hint } }),
    ...(receipt === undefined ? {} : bill(receipt)),
  };
  return JSON.stringify({ type: 'error', error: body });
}

export function messageId(head: AnswerHead): string {
  return `msg_${head.id}`;
}

/**
 * The stop reason. Whether a call is complete is decided from its arguments and not from the
 * upstream's finish reason: a complete call can be run, a truncated one cannot. This format has no
 * stop reason for a content filter or a busy upstream, so both map to the end of the turn.
 */
export function stopReason(
  finish: FinishReason,
  callArguments: readonly string[],
  receipt: Receipt,
): StopReason {
  if (receipt.outcome === 'stopped_balance') return 'max_tokens';
  const called = callArguments.length > 0;
  switch (finish) {
    case 'stop':
    case 'tool_calls':
      if (callArguments.some(isTorn)) return 'max_tokens';
      return called ? 'tool_use' : 'end_turn';
    case 'length':
      return called && callArguments.every(isWholeJson) ? 'tool_use' : 'max_tokens';
    case 'content_filter':
    case 'insufficient_system_resource':
      return 'end_turn';
  }
}

/**
 * The prompt is `input_tokens` plus `cache_read_input_tokens`. Tokens written to the cache were not
 * read from it, so they are part of the former.
 */
export function usage(receipt: Receipt) {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = receipt.usage;
  return {
    input_tokens: inputTokens - cachedInputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedInputTokens,
    output_tokens: outputTokens,
    svc_tokens_debited: receipt.tokensDebited,
    svc_cost_usd: receipt.costUsd,
    ...estimateMember(receipt),
  };
}

/** A call without arguments is complete: some models write none. */
function isTorn(callArguments: string): boolean {
  return callArguments.trim() !== '' && !isWholeJson(callArguments);
}

/**
 * This format's stop reasons have none for a refusal, and an empty answer would look complete. So a
 * filtered answer says so in the member that Anthropic sends beside its own stop reason.
 */
export function stopDetails(finish: FinishReason): object {
  if (finish !== 'content_filter') return {};
  return { stop_details: { type: 'refusal', category: null, explanation: null } };
}

/** Thinking precedes the text, so what came later is left out, as in a stream. */
function blocks(head: AnswerHead, answer: Answer): string[] {
  const all: string[] = [];
  const thinking = answer.reasoning.slice(0, answer.leadingReasoning);
  if (thinking !== '') {
    if (head.showReasoning) all.push(thinkingBlock(thinking));
    else if (head.marksThinking) all.push(thinkingBlock(''));
  }
  if (showsText(answer)) all.push(JSON.stringify({ type: 'text', text: answer.text }));
  for (const call of answer.toolCalls) {
    const id = JSON.stringify(encodeToolId(call.id));
    const name = JSON.stringify(call.name);
    const input = toolInput(call.arguments);
    all.push(`{"type":"tool_use","id":${id},"name":${name},"input":${input}}`);
  }
  return all;
}

function thinkingBlock(thinking: string): string {
  return JSON.stringify({ type: 'thinking', thinking, signature: THINKING_SIGNATURE });
}

/** Some prompt templates produce blank lines before a call, which are not an answer. */
function showsText(answer: Answer): boolean {
  if (answer.toolCalls.length === 0) return answer.text !== '';
  return answer.text.trim() !== '';
}
