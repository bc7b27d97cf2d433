// Reads the items of a Responses answer, sequential or interleaved, and emits their content as
// events. Tolerates items without a start, an end or an index, and items that arrive only whole.

import { isFailure, type UpstreamFailure } from '../../../core/failure.ts';
import type { GenerationEvent, JsonObject } from '../../../core/generation.ts';
import type { ResponsesProfile } from '../../../core/responses-profile.ts';
import { ARGUMENTS_END, ARGUMENTS_START, customPiece } from '../../custom-input.ts';
import { AnswerBlocks } from '../answer-blocks.ts';
import { malformed } from '../failure.ts';
import { OPEN_BLOCKS_MAX } from '../limits.ts';
import { toList, toObject, toText } from '../narrow.ts';
import { createToolBlocks } from '../tool-blocks.ts';
import {
  argumentsOf,
  beginItem,
  type Call,
  createCitationReader,
  type Item,
  type ItemDelta,
  keptItem,
  type Prose,
  wholeParts,
} from './item.ts';

/** Between two parts of thinking. */
const BLANK_LINE = '\n\n';

/**
 * `nameCall` gives a call its id, from the upstream's and the call's index. An index of undefined
 * means the latest item.
 */
export function createOutputReader(
  onEvent: (event: GenerationEvent) => void,
  nameCall: (given: string, position: number) => string,
  profile: ResponsesProfile,
) {
  const tools = createToolBlocks(emit, nameCall);
  const blocks = new AnswerBlocks();
  const open = new Map<number, Item>();
  const cite = createCitationReader(onEvent);
  let latest = -1;
  /** Of the text that has been emitted. */
  let length = 0;
  let lastKind: GenerationEvent['kind'] | undefined;

  function emit(event: GenerationEvent): void {
    lastKind = event.kind;
    onEvent(event);
  }

  function emitText(item: Prose, text: string): void {
    if (text === '') return;
    if (!item.starts.has(item.heard)) item.starts.set(item.heard, length);
    else if (item.end !== length) item.starts.set(item.heard, Number.NaN);
    length += text.length;
    item.end = length;
    blocks.text(text.length, item.phase);
    emit({ kind: 'text-delta', text });
  }

  function emitThinking(text: string): void {
    if (text !== '') emit({ kind: 'reasoning-delta', text });
  }

  function say(item: Prose, { kind, part, text }: ItemDelta): void {
    item.says ??= kind;
    if (item.says !== kind) return;
    const begins = item.heard < part;
    if (part < item.heard) item.starts.set(part, Number.NaN).set(item.heard, Number.NaN);
    if (begins) item.heard = part;
    const piece = item.pairs.push(text);
    if (kind === 'text') emitText(item, piece);
    else emitThinking(begins && lastKind === 'reasoning-delta' ? BLANK_LINE + piece : piece);
  }

  /** Adds a delta to its item; false if there is no such item of text. */
  function more(delta: ItemDelta): boolean {
    const item = open.get(delta.item ?? Math.max(latest, 0));
    if (item?.kind !== 'prose') return false;
    say(item, delta);
    return true;
  }

  /** Nothing follows that completes a held half of a character. */
  function flush(item: Prose): void {
    const rest = item.pairs.flush();
    if (item.says === 'text') emitText(item, rest);
    else emitThinking(rest);
  }

  const begin = (value: JsonObject): Item => beginItem(value, profile, blocks);

  /** Starts a call as soon as it has a name. */
  function startCall(item: Call, value: JsonObject): UpstreamFailure | undefined {
    const name = toText(value['name']);
    if (item.call !== undefined || name === '') return undefined;
    blocks.call();
    const given = toText(value['call_id']) || toText(value['id']);
    const call = tools.start(given, name, '');
    if (isFailure(call)) return call;
    item.call = call;
    return undefined;
  }

  function add(index: number, item: Item): UpstreamFailure | undefined {
    latest = index;
    if (open.size === OPEN_BLOCKS_MAX) return malformed(`more than ${OPEN_BLOCKS_MAX} open items`);
    open.set(index, item);
    return undefined;
  }

  /** Emits the parts of a whole item that no delta has said. */
  function completeProse(item: Prose, value: JsonObject): void {
    const { heard } = item;
    for (const plain of wholeParts(value)) if (plain.part > heard) say(item, plain);
    flush(item);
    for (const [part, each] of toList(value['content']).entries()) {
      const { annotations, text } = toObject(each);
      const start = item.starts.get(part) ?? Number.NaN;
      cite(annotations, start, Math.min(start + toText(text).length, length));
    }
    const kept = item.native === undefined ? undefined : keptItem(value);
    if (item.native !== undefined && kept !== undefined) blocks.fill(item.native, kept);
  }

  function completeCall(item: Call, value: JsonObject): UpstreamFailure | undefined {
    return startCall(item, value) ?? endCall(item, argumentsOf(value), false);
  }

  /** `json`: all of the arguments, for a call that has had none. */
  function endCall(item: Call, json: string, wasCut: boolean): UpstreamFailure | undefined {
    const call = item.call ?? tools.start('', '', '');
    if (isFailure(call)) return call;
    const rest = call.hasArguments ? '' : item.pairs.push(json);
    tools.piece(call, rest + item.pairs.flush());
    if (item.isText && !wasCut) tools.piece(call, ARGUMENTS_END);
    tools.stop(call);
    return undefined;
  }

  return {
    hasCalls: () => tools.count() > 0,
    isFull: tools.isFull,
    hasItems: () => latest !== -1,
    thinking: () => blocks.blocks(),
    start(index: number | undefined, value: JsonObject): UpstreamFailure | undefined {
      const item = begin(value);
      tools.next();
      const failure = item.kind === 'call' ? startCall(item, value) : undefined;
      return failure ?? add(index ?? latest + 1, item);
    },
    more,
    /** Deltas carry their own type, so a missing start loses little. */
    delta(delta: ItemDelta): UpstreamFailure | undefined {
      const index = delta.item ?? Math.max(latest, 0);
      if (more(delta) || open.has(index)) return undefined;
      const item = begin({ type: delta.kind === 'text' ? 'message' : 'reasoning' });
      if (item.kind === 'prose') say(item, delta);
      return add(index, item);
    },
    /** The whole item repeats what does not belong to text that has just come. */
    annotation(index: number | undefined, part: number, value: unknown): void {
      const item = open.get(index ?? latest);
      if (item?.kind !== 'prose' || item.end !== length) return;
      cite([value], item.starts.get(part) ?? Number.NaN, length);
    },
    /** A piece of a call's arguments; `isWhole`: all of them, which may repeat the pieces. */
    arguments(index: number | undefined, json: string, isWhole: boolean): void {
      const item = open.get(index ?? latest);
      if (item?.kind !== 'call' || item.call === undefined) return;
      if (!isWhole || !item.call.hasArguments) tools.piece(item.call, item.pairs.push(json));
    },
    /** A piece of a custom call's text, of which its end has none. */
    input(index: number | undefined, text: string): void {
      const item = open.get(index ?? latest);
      if (item?.kind !== 'call' || item.call === undefined || text === '') return;
      const start = item.isText ? '' : ARGUMENTS_START;
      item.isText = true;
      tools.piece(item.call, start + customPiece(item.pairs.push(text)));
    },
    /** The end of an item, which repeats it as a whole. */
    stop(index: number | undefined, value: JsonObject): UpstreamFailure | undefined {
      const at = index ?? Math.max(latest, 0);
      const known = open.get(at);
      const item = known ?? begin(value);
      if (known === undefined) tools.next();
      latest = Math.max(latest, at);
      open.delete(at);
      if (item.kind === 'call') return completeCall(item, value);
      if (item.kind === 'prose') completeProse(item, value);
      return undefined;
    },
    /** Ends the answer and every item. `wasCut`: by a limit, and not by the model. */
    end(wasCut: boolean): UpstreamFailure | undefined {
      for (const item of open.values()) {
        if (item.kind === 'call') {
          const failure = endCall(item, '', wasCut);
          if (failure !== undefined) return failure;
        } else if (item.kind === 'prose') flush(item);
      }
      return tools.end(wasCut);
    },
  };
}
