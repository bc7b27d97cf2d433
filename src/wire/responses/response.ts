// Encodes a whole answer in the Responses format, and what it shares with streams: the response
// object, the status, the usage and the error envelope.

import type { GatewayError } from '../../core/error.ts';
import type { Answer, FinishReason, Receipt } from '../../core/generation.ts';
import { bill, estimateMember } from '../bill.ts';
import type { AnswerHead } from '../format.ts';
import { annotationValue, type ItemStatus, itemValue, type OutputItem } from './items.ts';

/** How an answer ended: whole, or why not. */
export type Ending =
  | { readonly status: 'completed'; readonly incomplete_details: null }
  | {
      readonly status: 'incomplete';
      readonly incomplete_details: { readonly reason: 'max_output_tokens' | 'content_filter' };
    };

/** The JSON text of a whole answer. */
export function encodeResponse(head: AnswerHead, answer: Answer, receipt: Receipt): string {
  const ending = endingOf(answer.finish, receipt);
  const output = outputValues(head, answerItems(head, answer), ending.status);
  const created = responseObject(head, head.model, output);
  return JSON.stringify({ ...created, ...head.repeated, ...ending, usage: usage(receipt) });
}

/** The JSON text of an error. */
export function encodeError(error: GatewayError, requestId: string): string {
  return JSON.stringify({ error: errorMembers(error, requestId) });
}

/** What the envelope and the events of a failed stream say of an error. */
export function errorMembers(error: GatewayError, requestId: string, receipt?: Receipt) {
  return {
    // The pipeline names the bound of the other formats.
    message: error.message.replaceAll(/\bmax_tokens\b/g, 'max_output_tokens'),
    type: error.chatType,
    code: error.code,
    request_id: requestId,
    ...(error.param === undefined ? {} : { param: paramOf(error.param) }),
    ...(receipt === undefined ? {} : bill(receipt)),
  };
}

/** A response in progress, without a usage and what only the end of the answer repeats. */
export function responseObject(head: AnswerHead, model: string, output: readonly object[]) {
  return {
    id: `resp_${head.id}`,
    access_programs: null,
    object: 'response',
    created_at: head.createdSeconds,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
  };
}

/** Only the last item of an answer that was cut is incomplete. */
export function outputValues(
  head: AnswerHead,
  items: readonly OutputItem[],
  last: ItemStatus,
): object[] {
  return items.map((item, index) =>
    itemValue(head, item, index, index === items.length - 1 ? last : 'completed'),
  );
}

/** An answer cut by the balance ends like one cut by its limit. */
export function endingOf(finish: FinishReason, receipt: Receipt): Ending {
  const isCut = receipt.outcome === 'stopped_balance' || finish === 'length';
  if (!isCut && finish !== 'content_filter') {
    return { status: 'completed', incomplete_details: null };
  }
  const reason = isCut ? 'max_output_tokens' : 'content_filter';
  return { status: 'incomplete', incomplete_details: { reason } };
}

/** Counts are inclusive in this format: cached tokens are part of `input_tokens`. */
export function usage(receipt: Receipt) {
  const { inputTokens, cachedInputTokens, cacheWriteTokens } = receipt.usage;
  const { outputTokens, reasoningTokens } = receipt.usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: cachedInputTokens,
      cache_write_tokens: cacheWriteTokens,
    },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
    svc_tokens_debited: receipt.tokensDebited,
    svc_cost_usd: receipt.costUsd,
    ...estimateMember(receipt),
  };
}

/** Whether a text is worth an item: templates produce blank lines before thinking and calls. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

function answerItems(head: AnswerHead, answer: Answer): OutputItem[] {
  const { reasoning, leadingReasoning, text, toolCalls } = answer;
  const leading = thinkingItems(head, reasoning.slice(0, leadingReasoning));
  const late =
    leadingReasoning === undefined ? [] : thinkingItems(head, reasoning.slice(leadingReasoning));
  const calls = toolCalls.map((call): OutputItem => ({ kind: 'call', ...call }));
  // What cut the text may have left its citations.
  const annotations = answer.annotations
    ?.filter(({ end }) => end <= text.length)
    .map((citation) => annotationValue(citation, 0));
  const showsText = text !== '' && (calls.length === 0 || annotations || !isBlank(text));
  const texts: OutputItem[] = showsText ? [{ kind: 'text', text, annotations }] : [];
  return [...leading, ...texts, ...late, ...calls];
}

function thinkingItems(head: AnswerHead, text: string): OutputItem[] {
  if (isBlank(text) || !(head.showReasoning || head.marksThinking)) return [];
  return [{ kind: 'thinking', text: head.showReasoning ? text : '' }];
}

/** Some refusals of the pipeline name the prompt of the other formats. */
function paramOf(param: string): string {
  return param === 'messages' ? 'input' : param;
}
