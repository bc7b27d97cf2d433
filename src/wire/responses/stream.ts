// Encodes one stream in the Responses format: items in the order in which they begin, each with its
// events, and at the end the whole response again. Calls stay open until the end, because the pieces
// of several may interleave. It runs once per token, so constant parts are built once.

import type { Citation } from '../../core/citation.ts';
import type { GatewayError } from '../../core/error.ts';
import type { FinishReason, GenerationEvent, Receipt } from '../../core/generation.ts';
import { CustomInput } from '../custom-input.ts';
import type { AnswerHead, StreamEncoder } from '../format.ts';
import {
  annotationValue,
  argumentsText,
  isCustomCall,
  itemId,
  itemValue,
  type OutputItem,
  outputTextPart,
  summaryPart,
} from './items.ts';
import {
  type Ending,
  endingOf,
  errorMembers,
  isBlank,
  outputValues,
  responseObject,
  usage,
} from './response.ts';

const EVENTS = {
  thinking: 'response.reasoning_summary_text',
  text: 'response.output_text',
  call: 'response.function_call_arguments',
  custom: 'response.custom_tool_call_input',
} as const;

/** An item that has begun. */
type Begun = {
  readonly item: OutputItem;
  readonly index: number;
  /** Where it is, as the first members of its events. */
  readonly place: string;
  readonly event: (typeof EVENTS)[keyof typeof EVENTS];
  /** That of a custom call. */
  readonly input: CustomInput | undefined;
  isOpen: boolean;
};

export class ResponsesStreamEncoder implements StreamEncoder {
  readonly #head: AnswerHead;
  #model: string;
  #sequence = 0;
  #finish: FinishReason = 'stop';
  readonly #begun: Begun[] = [];
  /** By the index of their events. */
  readonly #calls: Begun[] = [];
  /** The text or thinking that the next piece of its kind continues. */
  #prose: Begun | undefined;
  /** White space before a text, which may turn out to be none. */
  #blank = '';
  #endedTextLength = 0;

  constructor(head: AnswerHead) {
    this.#head = head;
    this.#model = head.model;
  }

  start(): string {
    return this.#progress('created') + this.#progress('in_progress');
  }

  servedBy(model: string): void {
    this.#model = model;
  }

  push(event: GenerationEvent): string {
    switch (event.kind) {
      case 'text-delta':
        return this.#text(event.text);
      case 'reasoning-delta':
        return this.#thinking(event.text);
      case 'tool-start': {
        const { id, name } = event;
        const closed = this.#closeProse();
        const { begun, text } = this.#begin({ kind: 'call', id, name, arguments: '' });
        this.#calls[event.index] = begun;
        return closed + text;
      }
      case 'tool-delta':
        return this.#callPiece(this.#calls[event.index], event.json);
      case 'annotation':
        return this.#openText() + this.#annotation(event.citation);
      case 'finish':
        this.#finish = event.reason;
        return '';
      case 'usage':
        return '';
    }
  }

  /** An empty piece of what is open, because clients that wait for events do not count a comment. */
  heartbeat(): string {
    const open = this.#prose ?? this.#begun.findLast(({ isOpen }) => isOpen);
    const isHidden = open?.item.kind === 'thinking' && !this.#head.showReasoning;
    return open === undefined || isHidden ? this.#progress('in_progress') : this.#delta(open, '');
  }

  finish(receipt: Receipt): string {
    const ending = endingOf(this.#finish, receipt);
    const isText = this.#calls.length === 0 || this.#begun.some(({ item }) => item.kind === 'text');
    let text = isText ? this.#openText() : '';
    const last = this.#begun.at(-1);
    for (const begun of this.#begun) {
      text += this.#close(begun, begun === last ? ending.status : 'completed');
    }
    const { repeated } = this.#head;
    const begun = this.#response(ending.status);
    const response = { ...begun, ...repeated, ...ending, usage: finalUsage(receipt) };
    return text + this.#frame(`response.${ending.status}`, membersOf({ response }));
  }

  fail(error: GatewayError, receipt: Receipt | undefined): string {
    const members = errorMembers(error, this.#head.requestId, receipt);
    const response = {
      ...this.#response('incomplete'),
      status: 'failed',
      error: members,
      ...(receipt === undefined ? {} : { usage: finalUsage(receipt) }),
    };
    // Codex reads the first of the two alone, and takes the other for a broken connection.
    const failed = this.#frame('response.failed', membersOf({ response }));
    // Some clients read the members of the event, and others those of the error in it.
    const { type: _, ...rest } = members;
    return failed + this.#frame('error', membersOf({ param: null, ...rest, error: members }));
  }

  #text(text: string): string {
    if (this.#prose?.item.kind === 'text') return this.#piece(this.#prose, text);
    this.#blank += text;
    return isBlank(text) ? '' : this.#openText();
  }

  /** Begins a text with the white space that has waited for it. */
  #openText(): string {
    const text = this.#blank;
    this.#blank = '';
    return text === '' ? '' : this.#openProse('text', text);
  }

  #thinking(text: string): string {
    const { showReasoning, marksThinking } = this.#head;
    if (!showReasoning && !marksThinking) return '';
    const shown = showReasoning ? text : '';
    if (this.#prose?.item.kind === 'thinking') return this.#piece(this.#prose, shown);
    // White space alone would only split the text.
    return isBlank(text) ? '' : this.#openProse('thinking', shown);
  }

  #openProse(kind: 'text' | 'thinking', text: string): string {
    const closed = this.#closeProse();
    const { begun, text: begin } = this.#begin({ kind, text: '' });
    this.#prose = begun;
    return closed + begin + this.#piece(begun, text);
  }

  #closeProse(): string {
    return this.#prose === undefined ? '' : this.#close(this.#prose, 'completed');
  }

  #begin(item: OutputItem): { readonly begun: Begun; readonly text: string } {
    const head = this.#head;
    const index = this.#begun.length;
    const isCustom = isCustomCall(head, item);
    const part = { text: ',"content_index":0', thinking: ',"summary_index":0', call: '' };
    const begun: Begun = {
      item,
      index,
      place: `"item_id":"${itemId(head, item, index)}","output_index":${index}${part[item.kind]}`,
      event: EVENTS[isCustom ? 'custom' : item.kind],
      input: isCustom ? new CustomInput() : undefined,
      isOpen: true,
    };
    this.#begun.push(begun);
    return {
      begun,
      text: this.#item(begun, 'added', 'in_progress') + this.#part(begun, 'added', ''),
    };
  }

  /** Adds to a text or to thinking. */
  #piece(begun: Begun, text: string): string {
    const { item } = begun;
    if (text === '' || item.kind === 'call') return '';
    item.text += text;
    return this.#delta(begun, text);
  }

  /** Adds to the open text. */
  #annotation(citation: Citation): string {
    const { item, place } = this.#prose ?? {};
    const annotation = annotationValue(citation, this.#endedTextLength);
    const { start_index: start, end_index: end } = annotation;
    if (item?.kind !== 'text' || start < 0 || end > item.text.length) return '';
    item.annotations ??= [];
    const members = { annotation_index: item.annotations.push(annotation) - 1, annotation };
    return this.#frame(`${EVENTS.text}.annotation.added`, `${place},${membersOf(members)}`);
  }

  #callPiece(begun: Begun | undefined, piece: string): string {
    if (begun?.item.kind !== 'call' || piece === '') return '';
    begun.item.arguments += piece;
    const text = begun.input === undefined ? piece : begun.input.push(piece);
    return text === '' ? '' : this.#delta(begun, text);
  }

  #delta({ event, place, item }: Begun, text: string): string {
    const logprobs = item.kind === 'text' ? '"logprobs":[],' : '';
    return this.#frame(`${event}.delta`, `${place},${logprobs}"delta":${JSON.stringify(text)}`);
  }

  #close(begun: Begun, status: Ending['status']): string {
    if (!begun.isOpen) return '';
    begun.isOpen = false;
    if (begun === this.#prose) this.#prose = undefined;
    if (begun.item.kind === 'text') this.#endedTextLength += begun.item.text.length;
    return this.#done(begun) + this.#item(begun, 'done', status);
  }

  /** The end of what an item says. */
  #done(begun: Begun): string {
    const { item, event, place, input } = begun;
    const done = (members: object): string =>
      this.#frame(`${event}.done`, `${place},${membersOf(members)}`);
    switch (item.kind) {
      case 'text':
        return done({ text: item.text, logprobs: [] }) + this.#part(begun, 'done', item.text);
      case 'thinking':
        if (!this.#head.showReasoning) return '';
        return done({ text: item.text }) + this.#part(begun, 'done', item.text);
      case 'call': {
        const text = argumentsText(this.#head, item);
        if (input !== undefined) return done({ input: text });
        const bare = item.arguments === '' ? this.#delta(begun, text) : '';
        return bare + done({ name: item.name, arguments: text });
      }
    }
  }

  #part({ item, place }: Begun, step: 'added' | 'done', text: string): string {
    if (item.kind === 'call' || (item.kind === 'thinking' && !this.#head.showReasoning)) return '';
    const [name, part] =
      item.kind === 'text'
        ? ['content_part', outputTextPart(text, step === 'done' ? item.annotations : [])]
        : ['reasoning_summary_part', summaryPart(text)];
    return this.#frame(`response.${name}.${step}`, `${place},${membersOf({ part })}`);
  }

  #item(
    { item, index }: Begun,
    step: 'added' | 'done',
    status: Ending['status'] | 'in_progress',
  ): string {
    const value = itemValue(this.#head, item, index, status);
    const members = membersOf({ output_index: index, item: value });
    return this.#frame(`response.output_item.${step}`, members);
  }

  /** With all items, because clients replace theirs. */
  #progress(step: 'created' | 'in_progress'): string {
    const response = this.#response('completed');
    return this.#frame(`response.${step}`, membersOf({ response }));
  }

  /** The response with its items; the last one has this status. */
  #response(last: Ending['status']) {
    const items = this.#begun.map(({ item }) => item);
    return responseObject(this.#head, this.#model, outputValues(this.#head, items, last));
  }

  /** Events are numbered without gaps. Some clients read only one of the two lines. */
  #frame(type: string, members: string): string {
    const sequence = this.#sequence;
    this.#sequence += 1;
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},${members}}\n\n`;
  }
}

function finalUsage(receipt: Receipt) {
  return {
    ...usage(receipt),
    svc_balance_tokens: receipt.balanceTokens,
    svc_fallback_used: receipt.fallbackUsed,
    svc_outcome: receipt.outcome,
  };
}

/** The members of a value as JSON text, without its braces. */
function membersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}
