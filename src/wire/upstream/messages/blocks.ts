// Reads the blocks of a Messages answer, sequential or interleaved, and emits their content as
// events. Tolerates blocks without a start, an end or an index, and gaps in the indices.

import { isFailure, type UpstreamFailure } from '../../../core/failure.ts';
import type { GenerationEvent, JsonObject } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import { AnswerBlocks, type Thought } from '../answer-blocks.ts';
import { malformed } from '../failure.ts';
import { OPEN_BLOCKS_MAX } from '../limits.ts';
import { toText } from '../narrow.ts';
import { SurrogateJoiner } from '../surrogates.ts';
import { createToolBlocks, type OpenCall } from '../tool-blocks.ts';

/** A block that has started and not ended. */
type Block = { readonly pairs: SurrogateJoiner } & (
  | { readonly kind: 'text' }
  | { readonly kind: 'thinking'; readonly thought: Thought }
  | { readonly kind: 'tool'; readonly call: OpenCall }
  /** Tools run by the server itself, and unknown types. */
  | { readonly kind: 'ignored' }
);

/** Locates a block's input in the block's source text. */
type InputSource = () => string | undefined;

/**
 * `nameCall` gives a call its id, from the upstream's and the call's index. `index` is the
 * upstream's, of any type: anything but a number means the latest block.
 */
export function createBlockReader(
  onEvent: (event: GenerationEvent) => void,
  nameCall: (given: string, position: number) => string,
) {
  const tools = createToolBlocks(onEvent, nameCall);
  const thoughts = new AnswerBlocks();
  const open = new Map<number, Block>();
  let latest = -1;

  function emitText(text: string): void {
    if (text === '') return;
    thoughts.text(text.length);
    onEvent({ kind: 'text-delta', text });
  }

  function emitThinking(thought: Thought, text: string): void {
    if (text === '') return;
    thoughts.addText(thought, text);
    onEvent({ kind: 'reasoning-delta', text });
  }

  function add(index: number, block: Block): UpstreamFailure | undefined {
    if (open.size === OPEN_BLOCKS_MAX) return malformed(`more than ${OPEN_BLOCKS_MAX} open blocks`);
    open.set(index, block);
    return undefined;
  }

  function begin(block: JsonObject, source: InputSource): Block | UpstreamFailure {
    const pairs = new SurrogateJoiner();
    switch (block['type']) {
      case 'text':
        emitText(pairs.push(toText(block['text'])));
        return { kind: 'text', pairs };
      case 'thinking': {
        const thought = thoughts.begin();
        emitThinking(thought, pairs.push(toText(block['thinking'])));
        thoughts.sign(thought, toText(block['signature']));
        return { kind: 'thinking', thought, pairs };
      }
      case 'redacted_thinking':
        thoughts.addRedacted(toText(block['data']));
        return { kind: 'ignored', pairs };
      case 'tool_use': {
        thoughts.call();
        const input = readInput(block['input'], source);
        const call = tools.start(toText(block['id']), toText(block['name']), input);
        return isFailure(call) ? call : { kind: 'tool', call, pairs };
      }
      default:
        return { kind: 'ignored', pairs };
    }
  }

  function stop(index: number): void {
    const block = open.get(index);
    open.delete(index);
    switch (block?.kind) {
      case 'text':
        emitText(block.pairs.flush());
        break;
      case 'thinking':
        emitThinking(block.thought, block.pairs.flush());
        break;
      case 'tool':
        tools.piece(block.call, block.pairs.flush());
        tools.stop(block.call);
    }
  }

  return {
    hasCalls: () => tools.count() > 0,
    isFull: tools.isFull,
    thinking: () => thoughts.blocks(),
    start(given: unknown, block: JsonObject, source: InputSource): UpstreamFailure | undefined {
      const index = numberOr(given, latest + 1);
      stop(index);
      tools.next();
      latest = index;
      const begun = begin(block, source);
      return isFailure(begun) ? begun : add(index, begun);
    },
    /** Deltas carry their own type, so a missing block start loses little. */
    delta(given: unknown, delta: JsonObject): UpstreamFailure | undefined {
      const index = numberOr(given, latest);
      const block = open.get(index);
      if (block?.kind === 'ignored') return undefined;
      const pairs = block?.pairs ?? new SurrogateJoiner();
      switch (delta['type']) {
        case 'text_delta':
          emitText(pairs.push(toText(delta['text'])));
          return block === undefined ? add(index, { kind: 'text', pairs }) : undefined;
        case 'thinking_delta':
        case 'signature_delta': {
          const thought = block?.kind === 'thinking' ? block.thought : thoughts.begin();
          emitThinking(thought, pairs.push(toText(delta['thinking'])));
          thoughts.sign(thought, toText(delta['signature']));
          return block === undefined ? add(index, { kind: 'thinking', thought, pairs }) : undefined;
        }
        case 'input_json_delta': {
          const json = toText(delta['partial_json']);
          if (block?.kind === 'tool') tools.piece(block.call, pairs.push(json));
          // A call without a start has no name.
          else if (json !== '') tools.start('', '', '');
          return undefined;
        }
        default:
          return undefined;
      }
    },
    stop: (given: unknown): void => stop(numberOr(given, latest)),
    /** Ends the answer and every block. `wasCut`: by a limit, and not by the model. */
    end(wasCut: boolean): UpstreamFailure | undefined {
      for (const index of [...open.keys()]) stop(index);
      return tools.end(wasCut);
    },
  };
}

function numberOr(given: unknown, otherwise: number): number {
  return typeof given === 'number' ? given : otherwise;
}

/** The input in a block's start, as text: empty if the following pieces are the input. */
function readInput(input: unknown, source: InputSource): string {
  if (input === undefined || input === null) return '';
  // The JSON text itself instead of an object.
  if (typeof input === 'string') return input.toWellFormed();
  if (isObject(input) && Object.keys(input).length === 0) return '';
  return source() ?? '';
}
