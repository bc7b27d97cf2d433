// Converts one parsed event of a Responses stream, or one whole response, to our events. Streams and
// whole answers share this reader, so both are normalized alike. Unknown events are skipped. No
// upstream text reaches a failure's `detail`.

import type { FailureClass, UpstreamFailure } from '../../../core/failure.ts';
import type { GenerationEvent, JsonObject, UsageReport } from '../../../core/generation.ts';
import { isObject, parseJson } from '../../../core/json.ts';
import type { ResponsesProfile } from '../../../core/responses-profile.ts';
import { CallNames, type Conversation } from '../call-names.ts';
import type { WroteWords } from '../callers-words.ts';
import { errorEventFailure, malformed, readErrorRecord } from '../failure.ts';
import { finishEvent, readFinish, repairFinish, wasCut } from '../finish.ts';
import { toList, toObject, toText } from '../narrow.ts';
import { rawUsage } from '../raw-usage.ts';
import { laterServiceTier, withServiceTier } from '../service-tier.ts';
import { readResponsesUsage } from '../usage.ts';
import { type ItemDelta, readItemDelta, toIndex } from './item.ts';
import { createOutputReader } from './output.ts';

/** Codes of an error inside of a 200 (ResponseError in the types of openai 7.59, 2026-11-28). */
const CLASSES: readonly (readonly [RegExp, FailureClass])[] = [
  [/^insufficient_quota$/, 'credential'],
  [/^invalid_prompt$|policy/, 'content_policy'],
  [/^invalid_request_error$|image/, 'bad_request'],
  // A region or a name of our catalog: another upstream has others.
  [/^(?:data_residency_mismatch|model_not_found)$/, 'mismatch'],
];

/**
 * Events that say nothing new, or are about tools of the server itself. The end is not examined: for a
 * long name, each place where it may begin would be tried.
 */
const SKIPPED =
  /^(?:(?:ping|keepalive)$|response\.(?:queued|content_part|output_text|refusal|reasoning|function_call|custom_tool|mcp|[a-z_]+_call))/;

/** The code for thinking that the gateway gave back. */
const REFUSED_THINKING = 'invalid_encrypted_content';
const FAILED = 'the upstream reported a failed response without a reason';

/**
 * Creates a reader for the answer to a conversation. After a failure no further call may be made.
 */
export function createResponsesReader(
  onEvent: (event: GenerationEvent) => void,
  profile: ResponsesProfile,
  conversation: Conversation,
) {
  const names = new CallNames(conversation);
  const output = createOutputReader(emitContent, nameCall, profile);
  let answerId = '';
  let serviceTier: string | undefined;
  let finishWord = '';
  /** The first type of events that is neither read nor skipped. */
  let unknown: string | undefined;
  let usage: { readonly usage: UsageReport; readonly raw: string } | undefined;
  let hasContent = false;

  function emitContent(event: GenerationEvent): void {
    hasContent = true;
    onEvent(event);
  }

  function nameCall(given: string, position: number): string {
    return names.name(given, answerId, position);
  }

  function readHead(response: JsonObject): void {
    if (answerId === '') answerId = toText(response['id']);
    serviceTier = laterServiceTier(serviceTier, response['service_tier']);
  }

  /** Reads the last event's response, which repeats the whole answer. */
  function readEnd(response: JsonObject, status: string): UpstreamFailure | undefined {
    readHead(response);
    const error = readResponsesError(response, conversation.wrote);
    if (error !== undefined) return error;
    if (status === 'failed') return { class: 'server_error', detail: FAILED };
    if (status === 'in_progress' || status === 'queued') return malformed('an unfinished response');
    const reason = toText(toObject(response['incomplete_details'])['reason']);
    finishWord = status === 'incomplete' ? reason || status : status;
    const report = readResponsesUsage(response['usage']);
    if (report !== undefined) {
      const raw = rawUsage(toObject(response['usage']));
      usage = { usage: withServiceTier(report, serviceTier), raw };
    }
    // Caches and proxies may send a whole answer as the only event of a stream.
    return output.hasItems() ? undefined : readItems(response);
  }

  function readItems(response: JsonObject): UpstreamFailure | undefined {
    for (const [index, item] of toList(response['output']).entries()) {
      const failure = output.stop(index, toObject(item));
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  function readEvent(value: JsonObject, type: string): UpstreamFailure | 'over' | undefined {
    const index = toIndex(value['output_index']);
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        readHead(toObject(value['response']));
        return undefined;
      case 'response.output_item.added':
        return output.start(index, toObject(value['item']));
      case 'response.output_item.done':
        return output.stop(index, toObject(value['item']));
      case 'response.output_text.annotation.added':
        output.annotation(index, toIndex(value['content_index']) ?? 0, value['annotation']);
        return undefined;
      case 'response.function_call_arguments.delta':
        output.arguments(index, toText(value['delta']), false);
        return undefined;
      case 'response.function_call_arguments.done':
        output.arguments(index, toText(value['arguments']), true);
        return undefined;
      case 'response.custom_tool_call_input.delta':
        output.input(index, toText(value['delta']));
        return undefined;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        return readEnd(toObject(value['response']), type.slice('response.'.length)) ?? 'over';
      default:
        if (!SKIPPED.test(type)) unknown ??= type;
        return undefined;
    }
  }

  return {
    /** Reads a whole response. */
    readWhole: (response: JsonObject) =>
      readEnd(response, toText(response['status']) || 'completed'),
    /** Reads an event that is nothing but this delta; false if its item is not open. */
    readKnown: (delta: ItemDelta) => output.more(delta),
    /** `name` is the event's name. `over`: the response ended. */
    read(value: unknown, name: string): UpstreamFailure | 'over' | undefined {
      const delta = readItemDelta(value);
      if (delta !== undefined) return output.delta(delta);
      if (!isObject(value)) return malformed('no object');
      // Some servers omit one of the two.
      const type = toText(value['type']) || name;
      if (type === 'error' || type === '' || (value['error'] ?? '') !== '') {
        const error = readResponsesError(value, conversation.wrote);
        if (error !== undefined) return error;
      }
      return readEvent(value, type);
    },
    /** Whether a final event has been read. */
    isFinishing: () => finishWord !== '',
    serviceTier: () => serviceTier,
    usageSoFar: () => usage?.usage,
    /** Ends the answer: emits the usage, if any was reported, and then the finish event. */
    end(): UpstreamFailure | undefined {
      const sent = readFinish(finishWord);
      if (typeof sent !== 'string') return sent;
      const meant = output.isFull() ? 'length' : sent;
      const failure = output.end(wasCut(meant));
      if (failure !== undefined) return failure;
      const reason = repairFinish(meant, output.hasCalls(), hasContent);
      if (typeof reason !== 'string') return reason;
      if (usage !== undefined) onEvent({ kind: 'usage', ...usage });
      onEvent(finishEvent(reason, finishWord, output.thinking(), unknown));
      return undefined;
    },
  };
}

/** The failure that a parsed event or body reports despite a status of 200, if any. */
export function readResponsesError(
  value: JsonObject,
  wrote: WroteWords,
): UpstreamFailure | undefined {
  const failure = readErrorRecord(value, wrote);
  return failure === undefined ? undefined : specific(failure, value);
}

/** The failure of an event whose name is an error, regardless of its data. */
export function responsesErrorEvent(data: string, wrote: WroteWords): UpstreamFailure {
  return specific(errorEventFailure(data, wrote), parseJson(data));
}

function specific(failure: UpstreamFailure, value: unknown): UpstreamFailure {
  if (failure.class !== 'server_error') return failure;
  const code = toText(toObject(errorOf(value))['code']);
  if (code === REFUSED_THINKING) return { ...failure, class: 'mismatch', refusesThinking: true };
  const known = CLASSES.find(([pattern]) => pattern.test(code));
  return known === undefined ? failure : { ...failure, class: known[1] };
}

/** xAI writes the text in place of the object. */
function errorOf(value: unknown): unknown {
  return isObject(value) ? (value['error'] ?? value) : undefined;
}
