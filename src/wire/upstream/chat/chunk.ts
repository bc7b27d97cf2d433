// One parsed chat-completions chunk, or one whole body, to events. The stream decoder and the whole
// answer share this reader, so both normalise alike. Every tolerance has the server it is for in a
// comment; nothing an upstream wrote reaches a failure's `detail`.

import type { UpstreamFailure } from '../../../core/failure.ts';
import type { GenerationEvent, JsonObject, UsageReport } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { type Conversation, createCallNames } from '../call-names.ts';
import { malformed, readErrorRecord } from '../failure.ts';
import { laterFinish, readFinish, repairFinish, wasCut } from '../finish.ts';
import { toList, toObject, toText } from '../narrow.ts';
import { rawUsage } from '../raw-usage.ts';
import { type ChunkMember, createArgumentSources } from './arguments.ts';
import { createCharacterJoiner } from './characters.ts';
import { type PlainDelta, readAnswerText, readReasoning } from './delta.ts';
import { createThinkSplitter } from './think-tags.ts';
import { createToolReader } from './tool-calls.ts';
import { readUsage } from './usage.ts';

/** One choice of a chunk: `position` is its place among them. */
type Choice = {
  readonly value: JsonObject;
  readonly position: number;
  readonly member: ChunkMember;
  readonly text: string;
};

/** Returns a reader for the answer to a conversation. After a failure no further call may be made. */
export function createChunkReader(
  onEvent: (event: GenerationEvent) => void,
  profile: ChatProfile,
  conversation: Conversation,
) {
  const characters = createCharacterJoiner(emitContent);
  const prose = createThinkSplitter(profile.thinkTags, characters.push);
  const { wrote } = conversation;
  const nameCall = createCallNames(conversation);
  const tools = createToolReader(emitCall, profile.argumentPieces, (given, position) => {
    return nameCall(given, answerId, position);
  });
  let answerId = '';
  let reported: { readonly usage: UsageReport; readonly by: JsonObject } | undefined;
  let finishWord = '';
  let hasDelta = false;
  let hasContent = false;

  function emitContent(event: GenerationEvent): void {
    hasContent = true;
    onEvent(event);
  }

  function emitCall(event: GenerationEvent): void {
    prose.flush();
    characters.flush();
    emitContent(event);
  }

  /**
   * Some servers repeat growing totals, so the last sane one counts; they are never added. A total
   * of no output behind one of some is a member that a gateway fills with zeros.
   */
  function keepUsage(value: unknown): void {
    const usage = readUsage(value);
    if (usage === undefined || !isObject(value)) return;
    const known = reported?.usage;
    if (known !== undefined && known.basis !== 'rejected') {
      if (usage.basis === 'rejected') return;
      if (usage.outputTokens === 0 && known.outputTokens > 0) return;
    }
    reported = { usage, by: value };
  }

  function readChoice(choice: Choice): UpstreamFailure | undefined {
    const { value } = choice;
    // OpenRouter reports what went wrong behind it here, with any finish reason or none.
    const error = readErrorRecord({ error: value['error'] ?? null, choices: [] }, wrote);
    if (error !== undefined) return error;
    const failure = readContent(toObject(value[choice.member]), choice);
    if (failure !== undefined) return failure;
    // Moonshot reports here, in the last chunk.
    keepUsage(value['usage']);
    // Several gateways send "" with every chunk where the format has null.
    finishWord = laterFinish(finishWord, toText(value['finish_reason']));
    return undefined;
  }

  function readText(text: string): void {
    tools.flush();
    prose.text(text);
  }

  /** One delta can hold all three kinds; the order is the one in which a model produces them. */
  function readContent(content: JsonObject, choice: Choice): UpstreamFailure | undefined {
    const { position, member } = choice;
    const thought = readReasoning(content);
    if (thought !== '') prose.reasoning(thought);
    const said = readAnswerText(content);
    if (said !== '') readText(said);
    const sources = createArgumentSources(choice.text, member);
    for (const [index, call] of toList(content['tool_calls']).entries()) {
      // In a whole body every element is a call of its own, whatever index it bears.
      const piece = member === 'message' ? { ...toObject(call), index } : call;
      const failure = tools.piece(piece, () => sources.ofCall(position, index));
      if (failure !== undefined) return failure;
    }
    // What tool calls were called before there could be several of them.
    const legacy = content['function_call'];
    if (!isObject(legacy)) return undefined;
    return tools.piece({ function: legacy }, () => sources.ofLegacyCall(position));
  }

  /**
   * Caches and proxies may send a whole answer as the one event of a stream. Where a delta has said
   * something it is a repetition: MiniMax ends a stream with it, Perplexity sends it with each delta.
   */
  function memberOf(choice: JsonObject, member: ChunkMember): ChunkMember {
    hasDelta ||= saysSomething(toObject(choice['delta']));
    return hasDelta ? member : 'message';
  }

  return {
    /** `text` is what `value` was parsed from. */
    read(value: unknown, text: string, member: ChunkMember): UpstreamFailure | undefined {
      // What is said behind a finish reason, such as "[DONE]" in quotes, takes nothing back.
      if (!isObject(value)) return finishWord === '' ? malformed('no object') : undefined;
      const error = readErrorRecord(value, wrote);
      if (error !== undefined) return error;
      if (answerId === '') answerId = `${toText(value['id'])}/${String(value['created'])}`;
      // Chunks for usage alone and Azure's first chunk have no choices: [], null or nothing.
      const choices = toList(value['choices']);
      for (let position = 0; position < choices.length; position += 1) {
        const choice = choices[position];
        // We asked for one answer; another choice is somebody's default of `n`.
        if (!isObject(choice) || (choice['index'] ?? position) !== 0) continue;
        const failure = readChoice({
          value: choice,
          position,
          member: memberOf(choice, member),
          text,
        });
        if (failure !== undefined) return failure;
      }
      keepUsage(value['usage']);
      return undefined;
    },
    /** Reads a chunk that is nothing but this delta. */
    readPlain({ kind, text }: PlainDelta): void {
      hasDelta = true;
      if (kind === 'text-delta') readText(text);
      else prose.reasoning(text);
    },
    /** Whether a finish reason has been read. */
    isFinishing: () => finishWord !== '',
    /**
     * The answer is over: emits what was held back, the last usage, a sane one if any was, and then
     * the finish event. All of it waits until here because servers send content, tool calls and usage
     * after a first finish reason.
     */
    end(): UpstreamFailure | undefined {
      const meant = readFinish(finishWord);
      if (typeof meant !== 'string') return meant;
      prose.flush();
      characters.flush();
      const failure = tools.end(wasCut(meant));
      if (failure !== undefined) return failure;
      const reason = repairFinish(meant, tools.count() > 0, hasContent);
      if (typeof reason !== 'string') return reason;
      if (reported !== undefined) {
        onEvent({ kind: 'usage', usage: reported.usage, raw: rawUsage(reported.by) });
      }
      onEvent({ kind: 'finish', reason });
      return undefined;
    },
  };
}

/** Whether a delta has any content; a role alone may come before a whole message. */
function saysSomething(delta: JsonObject): boolean {
  if (readReasoning(delta) !== '' || readAnswerText(delta) !== '') return true;
  return toList(delta['tool_calls']).length > 0 || isObject(delta['function_call']);
}
