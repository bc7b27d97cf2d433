// Encodes one stream in the chat-completions format: a chunk for each event, the finish chunk, the
// last event with the bill, then [DONE]. Called once a stream by the pump; it works once a token,
// so what never changes is written once. It must never send a role, a finish reason, a call's name
// or a usage twice: clients add repeats together.

import type { FinishReason, GenerationEvent, Receipt } from '../../core/generation.ts';
import type { AnswerHead, StreamEncoder } from '../format.ts';
import { completionId, encodeError, finishReason, SYSTEM_FINGERPRINT, usage } from './response.ts';

const DONE = 'data: [DONE]\n\n';

/** The encoder of one stream. */
export function encodeStream(head: AnswerHead): StreamEncoder {
  const { includeUsage, showReasoning } = head;
  const after = ',"logprobs":null,"finish_reason":null}]}\n\n';
  const afterText = `}${after}`;
  let { envelope, before, beforeText, beforeReasoning } = beginnings(head, head.model);

  let reason: FinishReason = 'stop';
  /** Calls that have had no arguments yet: some clients cannot parse an empty text. */
  const bareCalls = new Set<number>();

  const callDelta = (index: number, members: string): string =>
    `${before}{"tool_calls":[{"index":${index},${members}}]}${after}`;
  const callArguments = (index: number, json: string): string =>
    callDelta(index, `"function":{"arguments":${JSON.stringify(json)}}`);

  const push = (event: GenerationEvent): string => {
    switch (event.kind) {
      case 'text-delta':
        return event.text === '' ? '' : beforeText + JSON.stringify(event.text) + afterText;
      case 'reasoning-delta':
        if (event.text === '' || !showReasoning) return '';
        return beforeReasoning + JSON.stringify(event.text) + afterText;
      case 'tool-start': {
        bareCalls.add(event.index);
        const [id, name] = [JSON.stringify(event.id), JSON.stringify(event.name)];
        const named = `"function":{"name":${name},"arguments":""}`;
        return callDelta(event.index, `"id":${id},"type":"function",${named}`);
      }
      case 'tool-delta':
        if (event.json === '') return '';
        bareCalls.delete(event.index);
        return callArguments(event.index, event.json);
      case 'finish':
        reason = event.reason;
        return '';
      case 'usage':
        return '';
    }
  };

  const finish = (receipt: Receipt): string => {
    const last = finishReason(reason, receipt);
    const calls = [...bareCalls].map((index) => callArguments(index, '{}'));
    const end = `${before}{},"logprobs":null,"finish_reason":"${last}"}]}\n\n`;
    return `${calls.join('')}${end}data: ${JSON.stringify(lastEvent(receipt))}\n\n${DONE}`;
  };

  /** Usage chunk and billing event at once; without usage it must not pass for a chunk. */
  const lastEvent = (receipt: Receipt): object => ({
    ...envelope,
    ...(includeUsage ? {} : { object: 'chat.completion.billing' }),
    choices: [],
    ...(includeUsage ? { usage: usage(receipt) } : {}),
    svc_tokens_debited: receipt.tokensDebited,
    svc_cost_usd: receipt.costUsd,
    svc_balance_tokens: receipt.balanceTokens,
    svc_fallback_used: receipt.fallbackUsed,
    svc_outcome: receipt.outcome,
  });

  return {
    start: () => `${before}{"role":"assistant","content":""}${after}`,
    servedBy(model) {
      ({ envelope, before, beforeText, beforeReasoning } = beginnings(head, model));
    },
    push,
    heartbeat: () => `${before}{}${after}`,
    finish,
    fail: (error, receipt) => `data: ${encodeError(error, head.requestId, receipt)}\n\n${DONE}`,
  };
}

/** What every chunk of a stream begins with, and its members for the last event. */
function beginnings(head: AnswerHead, model: string) {
  const envelope = {
    id: completionId(head),
    object: 'chat.completion.chunk',
    created: head.createdSeconds,
    model,
  };
  const fixed = JSON.stringify({ ...envelope, system_fingerprint: SYSTEM_FINGERPRINT });
  const before = `data: ${fixed.slice(0, -1)},"choices":[{"index":0,"delta":`;
  const beforeText = `${before}{"content":`;
  const beforeReasoning = `${before}{"reasoning_content":`;
  return { envelope, before, beforeText, beforeReasoning };
}
