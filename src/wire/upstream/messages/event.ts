// Converts one parsed event of a Messages stream, or one whole message, to our events. Streams and
// whole answers share this reader, so both are normalized alike. Unknown parts are ignored. No
// upstream text reaches a failure's `detail`.

import type { UpstreamFailure } from '../../../core/failure.ts';
import type { GenerationEvent, JsonObject } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import { valueSources } from '../../json-source.ts';
import { CallNames, type Conversation } from '../call-names.ts';
import { malformed } from '../failure.ts';
import { finishEvent, laterFinish, readFinish, repairFinish, wasCut } from '../finish.ts';
import { toList, toObject, toText } from '../narrow.ts';
import { createBlockReader } from './blocks.ts';
import { readMessagesError } from './failure.ts';
import { createUsageReader } from './usage.ts';

const START_INPUT = ['content_block', 'input'] as const;
const WHOLE_INPUT = ['content', '*', 'input'] as const;

/**
 * Creates a reader for the answer to a conversation. After a failure no further call may be made.
 */
export function createMessagesReader(
  onEvent: (event: GenerationEvent) => void,
  conversation: Conversation,
) {
  const names = new CallNames(conversation);
  const blocks = createBlockReader(emitContent, (given, position) => {
    return names.name(given, answerId, position);
  });
  const counts = createUsageReader();
  let answerId = '';
  let finishWord = '';
  /** The first type of events that is not listed here. */
  let unknown: string | undefined;
  let hasBegun = false;
  let hasContent = false;

  function emitContent(event: GenerationEvent): void {
    hasContent = true;
    onEvent(event);
  }

  function readHead(message: JsonObject): void {
    hasBegun = true;
    if (answerId === '') answerId = toText(message['id']);
    counts.readStart(message['usage']);
    // For the operator's records: thinking that no longer fitted its conversation.
    const dropped = toList(message['input_transformations']).length;
    if (dropped > 0) counts.read({ dropped_thinking_blocks: dropped });
  }

  /** Reads a whole message. */
  function readMessage(message: JsonObject, text: string): UpstreamFailure | undefined {
    readHead(message);
    const sources = valueSources(text, WHOLE_INPUT);
    for (const [index, block] of toList(message['content']).entries()) {
      const failure = blocks.start(index, toObject(block), () => sources.get(String(index)));
      if (failure !== undefined) return failure;
      blocks.stop(index);
    }
    counts.read(message['usage']);
    // A whole message is complete, even without a stop reason.
    finishWord = toText(message['stop_reason']) || 'end_turn';
    return undefined;
  }

  return {
    readMessage,
    /** `text` is the source of `value`, `name` the event's name. `over`: the message ended. */
    read(value: unknown, text: string, name: string): UpstreamFailure | 'over' | undefined {
      if (!isObject(value)) return malformed('no object');
      // Some servers omit one of the two.
      const type = toText(value['type']) || name;
      if (type === 'error' || type === '' || (value['error'] ?? '') !== '') {
        const error = readMessagesError(value, conversation.wrote);
        if (error !== undefined) return error;
      }
      switch (type) {
        case 'message_start':
          readHead(toObject(value['message']));
          return undefined;
        case 'content_block_start':
          hasBegun = true;
          return blocks.start(value['index'], toObject(value['content_block']), () =>
            valueSources(text, START_INPUT).get(''),
          );
        case 'content_block_delta':
          hasBegun = true;
          return blocks.delta(value['index'], toObject(value['delta']));
        case 'content_block_stop':
          blocks.stop(value['index']);
          return undefined;
        case 'message_delta':
          finishWord = laterFinish(finishWord, toText(toObject(value['delta'])['stop_reason']));
          counts.read(value['usage']);
          return undefined;
        case 'message_stop':
          return 'over';
        // Caches and proxies may send a whole message as the only event of a stream. `message` is
        // also the default name of any unnamed event.
        case 'message':
          if (hasBegun || !Array.isArray(value['content'])) return undefined;
          return readMessage(value, text);
        case 'ping':
          return undefined;
        default:
          unknown ??= type;
          return undefined;
      }
    },
    /** Whether a stop reason has been read. */
    isFinishing: () => finishWord !== '',
    serviceTier: counts.serviceTier,
    usageSoFar: counts.soFar,
    /** Ends the answer: emits the usage, if any was reported, and then the finish event. */
    end(): UpstreamFailure | undefined {
      const sent = readFinish(finishWord);
      if (typeof sent !== 'string') return sent;
      const meant = blocks.isFull() ? 'length' : sent;
      const failure = blocks.end(wasCut(meant));
      if (failure !== undefined) return failure;
      const reason = repairFinish(meant, blocks.hasCalls(), hasContent);
      if (typeof reason !== 'string') return reason;
      const reported = counts.report();
      if (reported !== undefined) onEvent({ kind: 'usage', ...reported });
      onEvent(finishEvent(reason, finishWord, blocks.thinking(), unknown));
      return undefined;
    },
  };
}
