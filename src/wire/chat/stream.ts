// Encodes one stream in the chat-completions format: a chunk for each event, the finish chunk, the
// last event with the charge, then [DONE]. It runs once per token, so constant parts are built
// once. It must never send a role, a finish reason, a call's name or a usage twice, because clients
// concatenate repeats.

import type { GatewayError } from '../../core/error.ts';
import type { FinishReason, GenerationEvent, Receipt } from '../../core/generation.ts';
import { estimateMember } from '../bill.ts';
import { CustomInput } from '../custom-input.ts';
import type { AnswerHead, StreamEncoder } from '../format.ts';
import { completionId, encodeError, finishReason, SYSTEM_FINGERPRINT, usage } from './response.ts';

const DONE = 'data: [DONE]\n\n';

const AFTER = ',"logprobs":null,"finish_reason":null}]}\n\n';
const AFTER_TEXT = `}${AFTER}`;

export class ChatStreamEncoder implements StreamEncoder {
  readonly #head: AnswerHead;
  #model: string;
  /** Prefixes of every chunk, and of text and reasoning chunks. */
  #before = '';
  #beforeText = '';
  #beforeReasoning = '';
  #reason: FinishReason = 'stop';
  /** Calls without arguments so far: some clients cannot parse an empty text. */
  #bareCalls: Set<number> | undefined;
  /** The inputs of calls of custom tools. */
  #inputs: Map<number, CustomInput> | undefined;

  constructor(head: AnswerHead) {
    this.#head = head;
    this.#model = head.model;
    this.#begin();
  }

  start(): string {
    return `${this.#before}{"role":"assistant","content":""}${AFTER}`;
  }

  servedBy(model: string): void {
    this.#model = model;
    this.#begin();
  }

  push(event: GenerationEvent): string {
    switch (event.kind) {
      case 'text-delta':
        if (event.text === '') return '';
        return this.#beforeText + JSON.stringify(event.text) + AFTER_TEXT;
      case 'reasoning-delta':
        if (event.text === '' || !this.#head.showReasoning) return '';
        return this.#beforeReasoning + JSON.stringify(event.text) + AFTER_TEXT;
      case 'tool-start':
        return this.#callStart(event);
      case 'tool-delta':
        return event.json === '' ? '' : this.#callPiece(event.index, event.json);
      case 'finish':
        this.#reason = event.reason;
        return '';
      case 'annotation':
      case 'usage':
        return '';
    }
  }

  heartbeat(): string {
    return `${this.#before}{}${AFTER}`;
  }

  finish(receipt: Receipt): string {
    const last = finishReason(this.#reason, receipt);
    let calls = '';
    for (const index of this.#bareCalls ?? []) calls += this.#callArguments(index, '{}');
    const end = `${this.#before}{},"logprobs":null,"finish_reason":"${last}"}]}\n\n`;
    return `${calls}${end}data: ${JSON.stringify(this.#lastEvent(receipt))}\n\n${DONE}`;
  }

  fail(error: GatewayError, receipt: Receipt | undefined): string {
    return `data: ${encodeError(error, this.#head.requestId, receipt)}\n\n${DONE}`;
  }

  #begin(): void {
    const { createdSeconds: created } = this.#head;
    const chunk = {
      id: completionId(this.#head),
      object: 'chat.completion.chunk',
      created,
      model: this.#model,
      system_fingerprint: SYSTEM_FINGERPRINT,
    };
    const members = JSON.stringify(chunk).slice(0, -1);
    this.#before = `data: ${members},"choices":[{"index":0,"delta":`;
    this.#beforeText = `${this.#before}{"content":`;
    this.#beforeReasoning = `${this.#before}{"reasoning_content":`;
  }

  #callStart({ index, id, name }: Extract<GenerationEvent, { kind: 'tool-start' }>): string {
    const start = `"id":${JSON.stringify(id)},"type":`;
    if (this.#head.customTools?.includes(name)) {
      this.#inputs ??= new Map();
      this.#inputs.set(index, new CustomInput());
      const named = `"custom","custom":{"name":${JSON.stringify(name)},"input":""}`;
      return this.#callDelta(index, start + named);
    }
    this.#bareCalls ??= new Set();
    this.#bareCalls.add(index);
    const named = `"function","function":{"name":${JSON.stringify(name)},"arguments":""}`;
    return this.#callDelta(index, start + named);
  }

  #callPiece(index: number, json: string): string {
    const input = this.#inputs?.get(index);
    if (input === undefined) {
      this.#bareCalls?.delete(index);
      return this.#callArguments(index, json);
    }
    const text = input.push(json);
    return text === '' ? '' : this.#callDelta(index, `"custom":{"input":${JSON.stringify(text)}}`);
  }

  #callDelta(index: number, members: string): string {
    return `${this.#before}{"tool_calls":[{"index":${index},${members}}]}${AFTER}`;
  }

  #callArguments(index: number, json: string): string {
    return this.#callDelta(index, `"function":{"arguments":${JSON.stringify(json)}}`);
  }

  /** Usage chunk and charge in one event. Without usage it must not look like a chunk. */
  #lastEvent(receipt: Receipt): object {
    const { includeUsage, createdSeconds: created } = this.#head;
    return {
      id: completionId(this.#head),
      object: includeUsage ? 'chat.completion.chunk' : 'chat.completion.billing',
      created,
      model: this.#model,
      choices: [],
      usage: includeUsage ? usage(receipt) : undefined,
      svc_tokens_debited: receipt.tokensDebited,
      svc_cost_usd: receipt.costUsd,
      svc_balance_tokens: receipt.balanceTokens,
      svc_fallback_used: receipt.fallbackUsed,
      svc_outcome: receipt.outcome,
      ...estimateMember(receipt),
    };
  }
}
