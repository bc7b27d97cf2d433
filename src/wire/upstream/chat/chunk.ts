// Converts one parsed chat-completions chunk, or one whole body, to events. Streams and whole
// answers share this reader, so both are normalized alike. Each tolerance names its server in a
// comment. No upstream text reaches a failure's `detail`.

import type { UpstreamFailure } from '../../../core/failure.ts';
import type {
  GenerationEvent,
  JsonObject,
  JsonValue,
  UsageReport,
} from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { CallNames, type Conversation } from '../call-names.ts';
import { errorEventFailure, malformed, readErrorRecord } from '../failure.ts';
import { finishEvent, laterFinish, readFinish, repairFinish, wasCut } from '../finish.ts';
import { CHOICES_MAX } from '../limits.ts';
import { hasValue, toList, toObject, toText } from '../narrow.ts';
import { rawUsage } from '../raw-usage.ts';
import { laterServiceTier, withServiceTier } from '../service-tier.ts';
import { readChatUsage } from '../usage.ts';
import { type ChunkMember, createArgumentSources } from './arguments.ts';
import { CharacterJoiner } from './characters.ts';
import { type DeltaSink, type PlainDelta, readAnswerText, readReasoning } from './delta.ts';
import { NativeThinking } from './native-thinking.ts';
import { ThinkSplitter } from './think-tags.ts';
import { createToolReader } from './tool-calls.ts';

/** One choice of a chunk: `position` is its index. */
type Choice = {
  readonly value: JsonObject;
  readonly position: number;
  readonly member: ChunkMember;
  /** The source text of the chunk. */
  readonly text: string;
};

/** Reads the answer to a conversation. After a failure no further call may be made. */
export class ChunkReader implements DeltaSink {
  readonly #onEvent: (event: GenerationEvent) => void;
  readonly #profile: ChatProfile;
  readonly #conversation: Conversation;
  readonly #characters: CharacterJoiner;
  readonly #prose: ThinkSplitter;
  /** Created for the first part of it, because most answers have none. */
  #native: NativeThinking | undefined;
  /** Created for the first tool call, because most answers have none. */
  #tools: ReturnType<typeof createToolReader> | undefined;
  #answerId = '';
  #usage: UsageReport | undefined;
  /** The value from which `#usage` was read. */
  #usageValue: unknown;
  #serviceTier: string | undefined;
  #finishWord = '';
  #hasDelta = false;
  #hasContent = false;
  /** Thinking alone is none. */
  #hasAnswer = false;
  /** Whether content followed a finish reason. */
  #wentOn = false;

  constructor(
    onEvent: (event: GenerationEvent) => void,
    profile: ChatProfile,
    conversation: Conversation,
  ) {
    this.#onEvent = onEvent;
    this.#profile = profile;
    this.#conversation = conversation;
    this.#characters = new CharacterJoiner(this);
    this.#prose = new ThinkSplitter(profile.thinkTags, this.#characters);
  }

  /** `text` is the source of the chunk `value`. */
  readChunk(value: unknown, text: string): UpstreamFailure | undefined {
    // Data after a finish reason, such as "[DONE]" in quotes, does not invalidate the answer.
    if (!isObject(value)) return this.hasFinish() ? undefined : malformed('no object');
    const error = readErrorRecord(value, this.#conversation.wrote);
    if (error !== undefined) return error;
    this.#readHead(value);
    // Usage chunks and Azure's first chunk have no choices: [], null or absent.
    const choices = toList(value['choices']);
    if (choices.length > CHOICES_MAX) return malformed(`more than ${CHOICES_MAX} choices`);
    for (let position = 0; position < choices.length; position += 1) {
      const choice = choices[position];
      // We request one answer; another choice comes from a server's default of `n`.
      if (!isObject(choice) || (choice['index'] ?? position) !== 0) continue;
      const member = this.#memberOf(choice);
      // Content means that it goes on, and a reason without any that it has ended.
      const reason = toText(choice['finish_reason']);
      if (this.#finishWord !== '') {
        if (saysSomething(toObject(choice['delta']))) this.#wentOn = true;
        else if (reason !== '') this.#wentOn = false;
      }
      const failure = this.#readChoice({ value: choice, position, member, text });
      if (failure !== undefined) return failure;
      this.#finishWord = laterFinish(this.#finishWord, reason);
    }
    this.#keepUsage(value['usage']);
    return undefined;
  }

  /** Reads a whole answer, whose first choice is `choice`. `text` is its source. */
  readWhole(value: JsonObject, choice: JsonObject, text: string): UpstreamFailure | undefined {
    this.#readHead(value);
    const failure = this.#readChoice({ value: choice, position: 0, member: 'message', text });
    if (failure !== undefined) return failure;
    // A whole body is complete, even without a finish reason.
    this.#finishWord = toText(choice['finish_reason']) || 'stop';
    this.#keepUsage(value['usage']);
    return undefined;
  }

  /** Reads a chunk that is nothing but this delta. */
  readPlain(delta: PlainDelta): void {
    this.#hasDelta = true;
    if (this.#finishWord !== '') this.#wentOn = true;
    if (delta.kind === 'text-delta') this.#tools?.flush();
    this.#prose.push(delta);
  }

  /** The failure of a record whose event name is an error. */
  error(text: string): UpstreamFailure {
    return errorEventFailure(text, this.#conversation.wrote);
  }

  /** The last report: some servers send a running one with each chunk. */
  usageSoFar(): UsageReport | undefined {
    return this.#usage;
  }

  /** The service tier that the answer names; undefined for the ordinary one. */
  serviceTier(): string | undefined {
    return this.#serviceTier;
  }

  /** Whether a finish reason has been read. */
  hasFinish(): boolean {
    return this.#finishWord !== '';
  }

  /**
   * Whether a finish reason has been read that means the end. Gateways to Gemini and Ollama write
   * `stop` into chunks of thinking, into each chunk, or into an empty first one.
   */
  isFinishing(): boolean {
    if (this.#finishWord === '' || this.#wentOn) return false;
    const hasAnswer = this.#hasAnswer || this.#tools !== undefined;
    return hasAnswer || this.#finishWord.toLowerCase() !== 'stop';
  }

  /**
   * Ends the answer: emits held text, the last sane usage, if any, and then the finish event. They
   * wait until here because servers send content, tool calls and usage after a first finish reason.
   */
  end(): UpstreamFailure | undefined {
    const sent = readFinish(this.#finishWord);
    if (typeof sent !== 'string') return sent;
    const meant = this.#tools?.isFull() === true ? 'length' : sent;
    this.#prose.flush();
    this.#characters.flush();
    const failure = this.#tools?.end(wasCut(meant));
    if (failure !== undefined) return failure;
    const hasCalls = this.#tools !== undefined && this.#tools.count() > 0;
    const reason = repairFinish(meant, hasCalls, this.#hasContent);
    if (typeof reason !== 'string') return reason;
    if (this.#usage !== undefined) {
      const usage = withServiceTier(this.#usage, this.#serviceTier);
      this.#onEvent({ kind: 'usage', usage, raw: rawUsage(toObject(this.#usageValue)) });
    }
    this.#onEvent(finishEvent(reason, this.#finishWord, this.#native?.blocks()));
    return undefined;
  }

  /** Called with content once nothing more can be joined to it. */
  push(event: GenerationEvent): void {
    this.#hasContent = true;
    if (event.kind !== 'reasoning-delta') this.#hasAnswer = true;
    this.#onEvent(event);
  }

  #readHead(value: JsonObject): void {
    this.#serviceTier = laterServiceTier(this.#serviceTier, value['service_tier']);
    if (this.#answerId !== '') return;
    this.#answerId = `${toText(value['id'])}/${String(value['created'])}`;
  }

  #readChoice(choice: Choice): UpstreamFailure | undefined {
    const { value } = choice;
    // OpenRouter reports the underlying error here, with or without a finish reason.
    const error = value['error'] ?? null;
    if (error !== null) {
      const failure = readErrorRecord({ error, choices: [] }, this.#conversation.wrote);
      if (failure !== undefined) return failure;
    }
    const failure = this.#readContent(toObject(value[choice.member]), choice);
    // Moonshot reports here, in the last chunk.
    if (failure === undefined) this.#keepUsage(value['usage']);
    return failure;
  }

  /**
   * One delta can hold all three kinds; they are read in the order in which models produce them.
   */
  #readContent(content: JsonObject, choice: Choice): UpstreamFailure | undefined {
    if (this.#profile.reasoningField === 'details' && hasValue(content['reasoning_details'])) {
      this.#native ??= new NativeThinking();
      this.#native.addDetails(content);
    }
    const thought = readReasoning(content);
    if (thought !== '') this.#prose.push({ kind: 'reasoning-delta', text: thought });
    const said = readAnswerText(content);
    if (said !== '') {
      this.#tools?.flush();
      this.#prose.push({ kind: 'text-delta', text: said });
    }
    const calls = toList(content['tool_calls']);
    // The predecessor of `tool_calls`, which allowed only one call.
    const legacy = content['function_call'];
    if (calls.length === 0 && !isObject(legacy)) return undefined;
    return this.#readCalls(calls, legacy, choice);
  }

  #readCalls(
    calls: readonly JsonValue[],
    legacy: unknown,
    { position, member, text }: Choice,
  ): UpstreamFailure | undefined {
    const tools = this.#toolReader();
    const sources = createArgumentSources(text, member);
    for (const [index, call] of calls.entries()) {
      // In a whole body every element is a separate call, regardless of its index.
      const piece = member === 'message' ? { ...toObject(call), index } : call;
      const failure = tools.piece(piece, () => sources.ofCall(position, index));
      if (failure !== undefined) return failure;
      const signature = toObject(call)['extra_content'];
      if (isObject(signature) && !tools.isFull()) {
        this.#native ??= new NativeThinking();
        this.#native.addSignature(signature, tools.latest());
      }
    }
    if (!isObject(legacy)) return undefined;
    return tools.piece({ function: legacy }, () => sources.ofLegacyCall(position));
  }

  #toolReader() {
    if (this.#tools !== undefined) return this.#tools;
    const names = new CallNames(this.#conversation);
    const onCall = (event: GenerationEvent): void => {
      this.#prose.flush();
      this.#characters.flush();
      this.push(event);
    };
    const nameCall = (given: string, position: number): string =>
      names.name(given, this.#answerId, position);
    this.#tools = createToolReader(onCall, this.#profile.argumentPieces, nameCall);
    return this.#tools;
  }

  /**
   * Some servers repeat growing totals, so the last sane one counts; they are never added up. A
   * zero output after a positive one comes from a gateway that fills in zeros.
   */
  #keepUsage(value: unknown): void {
    const usage = readChatUsage(value);
    if (usage === undefined || !isObject(value)) return;
    const known = this.#usage;
    if (known !== undefined && known.basis !== 'rejected') {
      if (usage.basis === 'rejected') return;
      if (usage.outputTokens === 0 && known.outputTokens > 0) return;
    }
    this.#usage = usage;
    this.#usageValue = value;
  }

  /**
   * Caches and proxies may send a whole answer as the only event of a stream. After a delta with
   * content it is a repetition: MiniMax ends a stream with it, Perplexity adds it to each delta.
   */
  #memberOf(choice: JsonObject): ChunkMember {
    this.#hasDelta ||= saysSomething(toObject(choice['delta']));
    return this.#hasDelta ? 'delta' : 'message';
  }
}

/** Whether a delta has any content; a role alone may precede a whole message. */
function saysSomething(delta: JsonObject): boolean {
  if (readReasoning(delta) !== '' || readAnswerText(delta) !== '') return true;
  return toList(delta['tool_calls']).length > 0 || isObject(delta['function_call']);
}
