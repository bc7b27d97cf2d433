// One parsed chat-completions chunk, or one whole body, to events. The stream decoder and the whole
// answer share this reader, so both normalise alike. Every tolerance has the server it is for in a
// comment; nothing an upstream wrote reaches a failure's `detail`.

import type { FailureClass, UpstreamFailure } from '../../core/failure.ts';
import type { FinishReason, GenerationEvent, Usage } from '../../core/generation.ts';
import { readErrorRecord } from './chat-failure.ts';
import { createToolReader } from './chat-tools.ts';
import { isRecord, type JsonRecord, toList, toRecord, toText } from './narrow.ts';
import { readUsage } from './usage.ts';

/** Where a choice has its content: in a stream's chunk, or in a whole body. */
export type ChunkMember = 'delta' | 'message';

export type PlainDelta = Extract<
  GenerationEvent,
  { readonly kind: 'reasoning-delta' | 'text-delta' }
>;

export type ChunkReader = {
  readonly read: (value: unknown, member: ChunkMember) => UpstreamFailure | undefined;
  /**
   * The answer is over: emits the last sane usage, if any, and then the finish event. Both wait
   * until here because servers send content, tool calls and usage after a first finish reason.
   */
  readonly end: () => UpstreamFailure | undefined;
};

/**
 * The words for a finish reason that are not the format's own. A word that is not listed is a stop:
 * the model did end, and clients make nothing of words that they do not know.
 */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
  ['insufficient_system_resource', 'insufficient_system_resource'],
]);

/** Words for an answer that did not end by itself. OpenRouter says `error`, vLLM says `abort`. */
const BROKEN_FINISHES: ReadonlyMap<string, FailureClass> = new Map([
  ['error', 'server_error'],
  ['abort', 'cut'],
]);

/** Returns a reader for one answer. After a failure no further call may be made. */
export function createChunkReader(onEvent: (event: GenerationEvent) => void): ChunkReader {
  const tools = createToolReader(onEvent, (position) => createCallId(seed, position));
  let seed = '';
  let usage: Usage | undefined;
  let finishWord = '';
  let hasContent = false;

  function readDelta(delta: JsonRecord, isWhole: boolean): UpstreamFailure | undefined {
    // One delta can hold all three; the order is the one in which a model produces them.
    const reasoning = readReasoning(delta);
    if (reasoning !== '') {
      hasContent = true;
      onEvent({ kind: 'reasoning-delta', text: reasoning });
    }
    const text = readAnswerText(delta);
    if (text !== '') {
      hasContent = true;
      onEvent({ kind: 'text-delta', text });
    }
    for (const [index, piece] of toList(delta['tool_calls']).entries()) {
      // In a whole body every element is a call of its own, whatever index it bears.
      const failure = tools.piece(isWhole ? { ...toRecord(piece), index } : piece);
      if (failure !== undefined) return failure;
    }
    // What tool calls were called before there could be several of them.
    const legacy = delta['function_call'];
    return isRecord(legacy) ? tools.piece({ function: legacy }) : undefined;
  }

  function readChoice(choice: JsonRecord, member: ChunkMember): UpstreamFailure | undefined {
    const failure = readDelta(toRecord(choice[member]), member === 'message');
    if (failure !== undefined) return failure;
    // Several gateways send "" with every chunk where the format has null.
    const word = toText(choice['finish_reason']);
    if (word !== '') finishWord = word.toLowerCase();
    return undefined;
  }

  return {
    read(value, member) {
      if (!isRecord(value)) return { class: 'malformed', detail: 'the upstream sent no object' };
      const error = readErrorRecord(value);
      if (error !== undefined) return error;
      if (seed === '') seed = `${toText(value['id'])}/${String(value['created'])}`;
      // Some servers repeat growing totals, so the last sane one counts; they are never added.
      if (value['usage'] !== undefined) usage = readUsage(value['usage']) ?? usage;
      // Chunks for usage alone and Azure's first chunk have no choices: [], null or nothing.
      const choices = toList(value['choices']);
      for (let position = 0; position < choices.length; position += 1) {
        const choice = choices[position];
        // We asked for one answer; another choice is somebody's default of `n`.
        if (!isRecord(choice) || (choice['index'] ?? position) !== 0) continue;
        const failure = readChoice(choice, member);
        if (failure !== undefined) return failure;
      }
      return undefined;
    },
    end() {
      if (finishWord === '') {
        return { class: 'cut', detail: 'the stream ended without a finish reason' };
      }
      const broken = BROKEN_FINISHES.get(finishWord);
      if (broken !== undefined) {
        return { class: broken, detail: 'the upstream gave up in the middle of its answer' };
      }
      const meant = FINISH_REASONS.get(finishWord) ?? 'stop';
      const failure = tools.end(meant !== 'stop' && meant !== 'tool_calls');
      if (failure !== undefined) return failure;
      const reason = repairReason(meant, tools.count() > 0);
      if (reason === 'insufficient_system_resource' && !hasContent && tools.count() === 0) {
        return { class: 'overloaded', detail: 'the upstream had no capacity for an answer' };
      }
      if (usage !== undefined) onEvent({ kind: 'usage', usage });
      onEvent({ kind: 'finish', reason });
      return undefined;
    },
  };
}

/**
 * The one delta of a chunk that was read without a failure, where it is some text or some reasoning
 * and nothing else: no usage, no finish reason, no tool call, no second choice.
 */
export function readPlainDelta(value: unknown): PlainDelta | undefined {
  if (!isRecord(value)) return undefined;
  const [choice, ...others] = toList(value['choices']);
  const hasUsage = value['usage'] !== undefined && value['usage'] !== null;
  if (hasUsage || others.length > 0 || !isRecord(choice)) return undefined;
  const delta = toRecord(choice['delta']);
  const hasCalls = toList(delta['tool_calls']).length > 0 || isRecord(delta['function_call']);
  if (hasCalls || toText(choice['finish_reason']) !== '') return undefined;
  if ((choice['index'] ?? 0) !== 0) return undefined;
  const reasoning = readReasoning(delta);
  const text = readAnswerText(delta);
  if ((reasoning === '') === (text === '')) return undefined;
  return reasoning === ''
    ? { kind: 'text-delta', text }
    : { kind: 'reasoning-delta', text: reasoning };
}

/** Servers differ in the field's name; those that send both send the same text in each. */
function readReasoning(delta: JsonRecord): string {
  return (
    toText(delta['reasoning_content']) ||
    // vLLM, Ollama, OpenRouter.
    toText(delta['reasoning']) ||
    // Mistral: parts of the content, each with text parts of its own.
    toList(delta['content']).map(readThinkingPart).join('')
  );
}

function readThinkingPart(part: unknown): string {
  const { type, thinking } = toRecord(part);
  return type === 'thinking' ? readText(thinking) : '';
}

function readAnswerText(delta: JsonRecord): string {
  return readText(delta['content']) || toText(delta['refusal']);
}

/** A string, or the text parts of an array. */
function readText(content: unknown): string {
  if (typeof content === 'string') return content;
  return toList(content)
    .map((part) => (typeof part === 'string' ? part : readTextPart(toRecord(part))))
    .join('');
}

function readTextPart(part: JsonRecord): string {
  return part['type'] === 'text' || part['type'] === undefined ? toText(part['text']) : '';
}

/**
 * Many servers say `stop` after tool calls, and clients then never run them; a client that is told
 * of tool calls where there are none waits for nothing. A cut or filtered answer stays one.
 */
function repairReason(meant: FinishReason, hasToolCalls: boolean): FinishReason {
  if (meant === 'stop' && hasToolCalls) return 'tool_calls';
  return meant === 'tool_calls' && !hasToolCalls ? 'stop' : meant;
}

/**
 * An id for a call that has none. Clients match results to calls by it, so it must differ between
 * the answers of one conversation: it is derived from the answer's own id and time of creation.
 */
function createCallId(seed: string, position: number): string {
  return `call_${Bun.hash(`${seed}/${position}`).toString(36)}`;
}
