// The records of a Messages stream as text. Each has an event line and a data line, because some
// clients read only one of them.

import type { FinishReason, Receipt } from '../../core/generation.ts';
import type { AnswerHead } from '../format.ts';
import { messageId, type StopReason, stopDetails, THINKING_SIGNATURE, usage } from './response.ts';

export function frame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

export const PING = frame('ping', '{"type":"ping"}');
export const MESSAGE_STOP = frame('message_stop', '{"type":"message_stop"}');

const DELTAS = {
  thinking: '"thinking_delta","thinking"',
  signature: '"signature_delta","signature"',
  text: '"text_delta","text"',
  tool: '"input_json_delta","partial_json"',
} as const;

/** The counts are zero, because nothing has been counted yet; the real ones come last. */
export function messageStart(head: AnswerHead): string {
  const message = {
    id: messageId(head),
    type: 'message',
    role: 'assistant',
    model: head.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0,
    },
  };
  return frame('message_start', JSON.stringify({ type: 'message_start', message }));
}

export function messageDelta(reason: StopReason, finish: FinishReason, receipt: Receipt): string {
  const data = {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null, ...stopDetails(finish) },
    usage: {
      ...usage(receipt),
      svc_balance_tokens: receipt.balanceTokens,
      svc_fallback_used: receipt.fallbackUsed,
      svc_outcome: receipt.outcome,
    },
  };
  return frame('message_delta', JSON.stringify(data));
}

export function blockStart(index: number, block: object): string {
  const data = { type: 'content_block_start', index, content_block: block };
  return frame('content_block_start', JSON.stringify(data));
}

export function blockStop(index: number): string {
  return frame('content_block_stop', `{"type":"content_block_stop","index":${index}}`);
}

/**
 * A delta's record up to its string, built once per block so that a delta costs two concatenations.
 * The string's JSON and `DELTA_END` follow.
 */
export function deltaStart(index: number, kind: keyof typeof DELTAS): string {
  const data = `{"type":"content_block_delta","index":${index},"delta":{"type":${DELTAS[kind]}:`;
  return `event: content_block_delta\ndata: ${data}`;
}

export const DELTA_END = '}}\n\n';

export function signatureDelta(index: number): string {
  return deltaStart(index, 'signature') + JSON.stringify(THINKING_SIGNATURE) + DELTA_END;
}
