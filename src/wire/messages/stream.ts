// Encodes one stream in the Messages format: numbered, strictly sequential blocks, from events that
// may interleave. It must never modify a closed block, or delay text that could be sent.

import type { GatewayError } from '../../core/error.ts';
import type { FinishReason, GenerationEvent, Receipt } from '../../core/generation.ts';
import type { AnswerHead, StreamEncoder } from '../format.ts';
import { isJsonObject, toolInput } from '../tool-input.ts';
import {
  blockStart,
  blockStop,
  DELTA_END,
  deltaStart,
  frame,
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  PING,
  signatureDelta,
} from './frames.ts';
import { encodeError, stopReason } from './response.ts';
import { encodeToolId } from './tool-id.ts';

type Call = {
  readonly id: string;
  readonly name: string;
  arguments: string;
  /** Whether `arguments` begin as an object; undefined while they are blank. */
  isObject: boolean | undefined;
  /** How much of `arguments` has been sent. */
  sent: number;
};

type OpenBlock =
  | { readonly kind: 'none' }
  | { readonly kind: 'thinking' | 'text'; readonly deltaStart: string }
  | { readonly kind: 'tool'; readonly call: Call; readonly deltaStart: string };

/** What waits until the open call is known to be complete. */
type Waiting = Call | { readonly kind: 'thinking' | 'text'; text: string };

const NONE: OpenBlock = { kind: 'none' };
const EMPTY_BLOCKS = {
  thinking: { type: 'thinking', thinking: '', signature: '' },
  text: { type: 'text', text: '' },
};

/**
 * The encoder of one stream. While an open call is incomplete, text and other calls wait; `finish`
 * sends what still waits at the end. White space alone never opens a text block, so that blank
 * lines before thinking or a call do not become one.
 */
export function encodeStream(head: AnswerHead): StreamEncoder {
  let open: OpenBlock = NONE;
  let nextIndex = 0;
  /** White space that arrived while no text block was open. */
  let blank = '';
  /** Whether text has come. Thinking after it is left out: the contract has it before the text. */
  let hasText = false;
  let finishReason: FinishReason = 'stop';
  const calls: Call[] = [];
  const waiting: Waiting[] = [];

  function openBlock(kind: 'thinking' | 'text'): string {
    const closing = closeBlock();
    const index = nextIndex;
    nextIndex += 1;
    open = { kind, deltaStart: deltaStart(index, kind) };
    return closing + blockStart(index, EMPTY_BLOCKS[kind]);
  }

  function openTool(call: Call): string {
    const closing = closeBlock();
    const index = nextIndex;
    nextIndex += 1;
    blank = '';
    open = { kind: 'tool', call, deltaStart: deltaStart(index, 'tool') };
    const block = { type: 'tool_use', id: encodeToolId(call.id), name: call.name, input: {} };
    return closing + blockStart(index, block);
  }

  function closeBlock(): string {
    const block = open;
    open = NONE;
    const stop = blockStop(nextIndex - 1);
    switch (block.kind) {
      case 'none':
        return '';
      case 'text':
        return stop;
      case 'thinking':
        return signatureDelta(nextIndex - 1) + stop;
      case 'tool':
        return closingArguments(block.call, block.deltaStart) + stop;
    }
  }

  /** Thinking after calls gets its own block, because sent blocks cannot be extended. */
  function thinking(text: string): string {
    if (!(head.showReasoning || head.marksThinking) || text === '') return '';
    if (open.kind === 'thinking') {
      return head.showReasoning ? open.deltaStart + JSON.stringify(text) + DELTA_END : '';
    }
    // White space alone would only split the text.
    if (nextIndex > 0 && isBlank(text)) return '';
    return mustWait() ? wait('thinking', text) : openThinking(text);
  }

  function openThinking(text: string): string {
    return openBlock('thinking') + thinking(text);
  }

  function textDelta(text: string): string {
    if (open.kind === 'text') return open.deltaStart + JSON.stringify(text) + DELTA_END;
    if (waiting.length === 0 && isBlank(text)) {
      blank += text;
      return '';
    }
    return mustWait() ? wait('text', text) : textBlock(text);
  }

  /** Text without an open text block: white space waits until other text follows. */
  function textBlock(text: string): string {
    const whole = blank + text;
    if (!isBlank(text)) return openText(whole);
    blank = whole;
    return '';
  }

  function openText(text: string): string {
    blank = '';
    const start = openBlock('text');
    return start + textDelta(text);
  }

  /** Whether the open call may still grow, or others already wait for it. */
  function mustWait(): boolean {
    if (waiting.length > 0) return true;
    return open.kind === 'tool' && !isJsonObject(open.call.arguments);
  }

  function wait(kind: 'thinking' | 'text', text: string): string {
    const last = waiting.at(-1);
    if (last !== undefined && 'kind' in last && last.kind === kind) last.text += text;
    else waiting.push({ kind, text });
    return '';
  }

  function toolDelta(index: number, json: string): string {
    const call = calls[index];
    if (call === undefined || json === '') return '';
    const isOpen = open.kind === 'tool' && open.call === call;
    if (!isOpen && !waiting.includes(call)) return '';
    call.arguments += json;
    call.isObject ??= beginsObject(json);
    if (open.kind !== 'tool' || !isOpen || call.isObject !== true) return '';
    const unsent = call.sent === 0 ? call.arguments : json;
    call.sent = call.arguments.length;
    return open.deltaStart + JSON.stringify(unsent) + DELTA_END;
  }

  /** Sends what waits at the end of the answer, and closes the last block. */
  function flush(): string {
    let text = '';
    for (const item of waiting.splice(0)) {
      if (!('kind' in item)) text += openTool(item);
      else if (item.kind === 'text') text += textBlock(item.text);
      // White space may have waited between two pieces of one block.
      else text += open.kind === 'thinking' ? thinking(item.text) : openThinking(item.text);
    }
    if (blank !== '' && calls.length === 0) text += openText(blank);
    return text + closeBlock();
  }

  function fail(error: GatewayError, receipt: Receipt | undefined): string {
    return frame('error', encodeError(error, head.requestId, receipt));
  }

  return {
    start: () => messageStart(head),
    // The only event that names a model was already sent; `svc_fallback_used` at the end reports
    // it.
    servedBy: () => {},
    heartbeat: () => PING,
    fail,
    push(event: GenerationEvent) {
      switch (event.kind) {
        case 'text-delta':
          hasText ||= !isBlank(event.text);
          return event.text === '' ? '' : textDelta(event.text);
        case 'reasoning-delta':
          return hasText ? '' : thinking(event.text);
        case 'tool-start': {
          const { id, name } = event;
          const call: Call = { id, name, arguments: '', isObject: undefined, sent: 0 };
          calls[event.index] = call;
          if (!mustWait()) return openTool(call);
          waiting.push(call);
          return '';
        }
        case 'tool-delta':
          return toolDelta(event.index, event.json);
        case 'finish':
          finishReason = event.reason;
          return '';
        case 'annotation':
        case 'usage':
          return '';
      }
    },
    finish(receipt) {
      const callArguments = calls.map((call) => call.arguments);
      const reason = stopReason(finishReason, callArguments, receipt);
      return flush() + messageDelta(reason, finishReason, receipt) + MESSAGE_STOP;
    },
  };
}

function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

/**
 * Decided by the first piece that is not blank. Arguments that do not begin as an object are held
 * back, because they must be repaired as a whole. Scanning all of them with every piece would take
 * minutes for long ones.
 */
function beginsObject(piece: string): boolean | undefined {
  const first = piece.trimStart().charAt(0);
  return first === '' ? undefined : first === '{';
}

/** The unsent part of a call's arguments when its block closes. */
function closingArguments(call: Call, start: string): string {
  if (call.arguments.trim() === '') return '';
  if (call.sent === call.arguments.length) return '';
  const rest = call.isObject === true ? call.arguments.slice(call.sent) : toolInput(call.arguments);
  return start + JSON.stringify(rest) + DELTA_END;
}
