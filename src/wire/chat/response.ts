// Encodes a whole answer in the chat-completions format, and what it shares with streams: the id,
// the usage, the finish reason and the error envelope. It must never invent a count: all of them
// come from the receipt.

import type { GatewayError } from '../../core/error.ts';
import type { Answer, FinishReason, Receipt, ToolCall } from '../../core/generation.ts';
import { bill, estimateMember } from '../bill.ts';
import { customInput } from '../custom-input.ts';
import type { AnswerHead } from '../format.ts';

/**
 * Clients compare it between answers to detect a changed backend. Ours is constant and carries no
 * such information.
 */
export const SYSTEM_FINGERPRINT = 'fp_tollgate';

/** The JSON text of a whole answer. */
export function encodeResponse(head: AnswerHead, answer: Answer, receipt: Receipt): string {
  return JSON.stringify({
    id: completionId(head),
    object: 'chat.completion',
    created: head.createdSeconds,
    model: head.model,
    choices: [
      {
        index: 0,
        message: message(answer, head),
        logprobs: null,
        finish_reason: finishReason(answer.finish, receipt),
      },
    ],
    usage: usage(receipt),
    system_fingerprint: SYSTEM_FINGERPRINT,
  });
}

/** The JSON text of an error. `receipt` is set if the error ended a stream that was charged. */
export function encodeError(error: GatewayError, requestId: string, receipt?: Receipt): string {
  return JSON.stringify({
    error: {
      message: error.message,
      type: error.chatType,
      code: error.code,
      request_id: requestId,
      ...(error.param === undefined ? {} : { param: error.param }),
      ...(receipt === undefined ? {} : bill(receipt)),
    },
  });
}

export function completionId(head: AnswerHead): string {
  return `chatcmpl-${head.id}`;
}

/** An answer cut by the balance ends with `length`. */
export function finishReason(reason: FinishReason, receipt: Receipt): FinishReason {
  return receipt.outcome === 'stopped_balance' ? 'length' : reason;
}

/** Counts are inclusive in this format: cached tokens are part of `prompt_tokens`. */
export function usage(receipt: Receipt) {
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens } = receipt.usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
    prompt_cache_hit_tokens: cachedInputTokens,
    prompt_cache_miss_tokens: inputTokens - cachedInputTokens,
    svc_tokens_debited: receipt.tokensDebited,
    svc_cost_usd: receipt.costUsd,
    ...estimateMember(receipt),
  };
}

/** Undefined members are not written. */
function message(answer: Answer, { showReasoning, customTools }: AnswerHead) {
  const { text, toolCalls } = answer;
  return {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    // OpenAI's schema requires the member, and so do clients generated from it.
    refusal: null,
    reasoning_content: (showReasoning && answer.reasoning) || undefined,
    tool_calls:
      toolCalls.length === 0 ? undefined : toolCalls.map((call) => toolCall(call, customTools)),
  };
}

/** Some clients cannot parse empty arguments, so a call without arguments has `{}`. */
function toolCall({ id, name, arguments: json }: ToolCall, custom: AnswerHead['customTools']) {
  if (custom?.includes(name))
    return { id, type: 'custom', custom: { name, input: customInput(json) } };
  return { id, type: 'function', function: { name, arguments: json === '' ? '{}' : json } };
}
