// One parsed event of a Messages stream, or one whole message, to events of ours. The stream decoder
// and the whole answer share this reader, so both normalise alike. What is unknown is ignored, and
// nothing an upstream wrote reaches a failure's `detail`.

import type { UpstreamFailure } from '../../core/failure.ts';
import type { GenerationEvent } from '../../core/generation.ts';
import { valueSources } from '../source.ts';
import { readFinish, repairFinish } from './chat-finish.ts';
import { OPEN_BLOCKS_MAX } from './limits.ts';
import { malformed, readMessagesError } from './messages-failure.ts';
import { createThoughts, type Thought } from './messages-thoughts.ts';
import { createToolBlocks, type OpenCall } from './messages-tools.ts';
import { createUsageReader } from './messages-usage.ts';
import { isRecord, type JsonRecord, toList, toRecord, toText } from './narrow.ts';
import { derivedCallId } from './tool-id.ts';

export type MessagesReader = {
  /** `text` is what `value` was parsed from, `name` the record's own. `over`: the message ended. */
  readonly read: (
    value: unknown,
    text: string,
    name: string,
  ) => UpstreamFailure | 'over' | undefined;
  /** Reads a whole message. */
  readonly readMessage: (message: JsonRecord, text: string) => UpstreamFailure | undefined;
  /** The answer is over: emits the usage, if any was sane, and then the finish event. */
  readonly end: () => UpstreamFailure | undefined;
  /** Whether a stop reason has been read. */
  readonly isFinishing: () => boolean;
};

/** A block that has begun and not ended. Only text needs no memory. */
type Block =
  | { readonly kind: 'text' }
  | { readonly kind: 'thinking'; readonly thought: Thought }
  | { readonly kind: 'tool'; readonly call: OpenCall }
  /** Tools that the server runs itself, and whatever else comes to be. */
  | { readonly kind: 'ignored' };

const START_INPUT = ['content_block', 'input'] as const;
const WHOLE_INPUT = ['content', '*', 'input'] as const;

/**
 * Returns a reader for one answer. After a failure no further call may be made. `seed` tells the
 * answer from the others of its conversation where the upstream gives it no id.
 */
export function createMessagesReader(
  onEvent: (event: GenerationEvent) => void,
  seed: string,
): MessagesReader {
  const tools = createToolBlocks(emit, (position) => {
    return derivedCallId(`${answerId}/${seed}`, position);
  });
  const thoughts = createThoughts();
  const counts = createUsageReader();
  const open = new Map<number, Block>();
  let answerId = '';
  let latest = -1;
  let finishWord = '';
  let hasBegun = false;
  let hasContent = false;

  function emit(event: GenerationEvent): void {
    hasContent = true;
    onEvent(event);
  }

  function emitText(text: string): void {
    if (text !== '') emit({ kind: 'text-delta', text });
  }

  function emitThinking(thought: Thought, text: string): void {
    if (text === '') return;
    thoughts.addText(thought, text);
    emit({ kind: 'reasoning-delta', text });
  }

  function readHead(message: JsonRecord): void {
    hasBegun = true;
    if (answerId === '') answerId = toText(message['id']);
    counts.readStart(message['usage']);
  }

  /** `source` finds the text of the block's input. */
  function startBlock(index: number, block: JsonRecord, source: () => string | undefined) {
    hasBegun = true;
    stopBlock(index);
    tools.next();
    latest = index;
    const begun = beginBlock(block, source);
    return 'class' in begun ? begun : openBlock(index, begun);
  }

  function openBlock(index: number, block: Block): UpstreamFailure | undefined {
    if (open.size === OPEN_BLOCKS_MAX) return malformed(`more than ${OPEN_BLOCKS_MAX} open blocks`);
    open.set(index, block);
    return undefined;
  }

  function beginBlock(
    block: JsonRecord,
    source: () => string | undefined,
  ): Block | UpstreamFailure {
    switch (block['type']) {
      case 'text':
        emitText(toText(block['text']));
        return { kind: 'text' };
      case 'thinking': {
        const thought = thoughts.begin();
        emitThinking(thought, toText(block['thinking']));
        thoughts.sign(thought, toText(block['signature']));
        return { kind: 'thinking', thought };
      }
      case 'redacted_thinking':
        thoughts.addRedacted(toText(block['data']));
        return { kind: 'ignored' };
      case 'tool_use': {
        const input = readInput(block['input'], source);
        const call = tools.start(toText(block['id']), toText(block['name']), input);
        return 'class' in call ? call : { kind: 'tool', call };
      }
      default:
        return { kind: 'ignored' };
    }
  }

  /** Deltas say what they are themselves, so that a block's missing start costs little. */
  function readDelta(index: number, delta: JsonRecord): UpstreamFailure | undefined {
    const block = open.get(index);
    if (block?.kind === 'ignored') return undefined;
    switch (delta['type']) {
      case 'text_delta':
        emitText(toText(delta['text']));
        return undefined;
      case 'thinking_delta':
      case 'signature_delta': {
        const thought = block?.kind === 'thinking' ? block.thought : thoughts.begin();
        emitThinking(thought, toText(delta['thinking']));
        thoughts.sign(thought, toText(delta['signature']));
        return block === undefined ? openBlock(index, { kind: 'thinking', thought }) : undefined;
      }
      case 'input_json_delta': {
        const json = toText(delta['partial_json']);
        if (block?.kind === 'tool') tools.piece(block.call, json);
        // A call that never began has no name.
        else if (json !== '') tools.start('', '', '');
        return undefined;
      }
      default:
        return undefined;
    }
  }

  function stopBlock(index: number): void {
    const block = open.get(index);
    open.delete(index);
    if (block?.kind === 'tool') tools.stop(block.call);
  }

  function readMessage(message: JsonRecord, text: string): UpstreamFailure | undefined {
    readHead(message);
    const sources = valueSources(text, WHOLE_INPUT);
    for (const [index, block] of toList(message['content']).entries()) {
      const failure = startBlock(index, toRecord(block), () => sources.get(String(index)));
      if (failure !== undefined) return failure;
      stopBlock(index);
    }
    counts.read(message['usage']);
    // A message that arrived whole is complete, with or without a word that says so.
    finishWord = toText(message['stop_reason']) || 'end_turn';
    return undefined;
  }

  function indexOf(event: JsonRecord, otherwise: number): number {
    const { index } = event;
    return typeof index === 'number' ? index : otherwise;
  }

  return {
    readMessage,
    read(value, text, name) {
      if (!isRecord(value)) return malformed('no object');
      // Some servers leave out the one or the other.
      const type = toText(value['type']) || name;
      if (type === 'error' || type === '' || hasError(value)) {
        const error = readMessagesError(value);
        if (error !== undefined) return error;
      }
      switch (type) {
        case 'message_start':
          readHead(toRecord(value['message']));
          return undefined;
        case 'content_block_start':
          return startBlock(indexOf(value, latest + 1), toRecord(value['content_block']), () =>
            valueSources(text, START_INPUT).get(''),
          );
        case 'content_block_delta':
          return readDelta(indexOf(value, latest), toRecord(value['delta']));
        case 'content_block_stop':
          stopBlock(indexOf(value, latest));
          return undefined;
        case 'message_delta':
          finishWord = toText(toRecord(value['delta'])['stop_reason']) || finishWord;
          counts.read(value['usage']);
          return undefined;
        case 'message_stop':
          return 'over';
        // Caches and proxies may send a whole message as the one event of a stream.
        case 'message':
          return hasBegun ? undefined : readMessage(value, text);
        default:
          return undefined;
      }
    },
    isFinishing: () => finishWord !== '',
    end() {
      const meant = readFinish(finishWord);
      if (typeof meant !== 'string') return meant;
      for (const index of [...open.keys()]) stopBlock(index);
      const failure = tools.end(meant !== 'stop' && meant !== 'tool_calls');
      if (failure !== undefined) return failure;
      const reason = repairFinish(meant, tools.count() > 0);
      if (reason === 'insufficient_system_resource' && !hasContent) {
        return { class: 'overloaded', detail: 'the upstream had no capacity for an answer' };
      }
      const usage = counts.usage();
      if (usage !== undefined) onEvent({ kind: 'usage', usage });
      const thinking = thoughts.blocks();
      onEvent({ kind: 'finish', reason, ...(thinking === undefined ? {} : { thinking }) });
      return undefined;
    },
  };
}

function hasError(value: JsonRecord): boolean {
  return (value['error'] ?? '') !== '';
}

/** The input in a block's start, as text: empty where the pieces that follow are the input. */
function readInput(input: unknown, source: () => string | undefined): string {
  if (input === undefined || input === null) return '';
  // The JSON text itself in place of the object.
  if (typeof input === 'string') return input;
  if (isRecord(input) && Object.keys(input).length === 0) return '';
  return source() ?? '';
}
