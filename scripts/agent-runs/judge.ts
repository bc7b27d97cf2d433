// Checks one run and returns a sentence for each violation; an empty list is a pass. Pure; called
// by run.ts and failure-runs.ts.

import { isDeepStrictEqual } from 'node:util';
import { noteThinking } from '../../test/support/file-reader.ts';
import { SIGNATURE } from '../../test/support/render.ts';
import { ENCRYPTED } from '../../test/support/render-responses.ts';
import type { RecordedRequest } from '../../test/support/upstream.ts';
import type { Generation, Seen } from './stage.ts';

/**
 * What had become of the first answer's thinking when the upstream got the result of its call: the
 * agent sent it back, the gateway put it back, the agent had lost it, or it was lost on the way.
 */
export type Thinking = 'replayed' | 'restored' | 'lost' | 'dropped';

/** An agent that came to its end, said `answer`, and whose every request was answered and billed. */
export function judgeSuccess(seen: Seen, answer: string): string[] {
  const problems = judgeEnd(seen, answer);
  if (seen.ran.code !== undefined && seen.ran.code !== 0) problems.push(`exit ${seen.ran.code}`);
  if (seen.generations.length === 0) problems.push('no request came');
  for (const each of seen.generations) problems.push(...judgeGeneration(each));
  return problems;
}

/** An agent that came to its end in time and printed `text`, and left nothing open. */
export function judgeEnd(seen: Seen, text: string): string[] {
  const problems: string[] = [];
  if (seen.ran.code === undefined) problems.push('had to be killed');
  if (!seen.ran.output.includes(text)) problems.push(`did not print "${text}"`);
  if (seen.inFlight !== 0) problems.push(`${seen.inFlight} still in flight`);
  for (const refusal of seen.refusals) problems.push(`the upstream refused: ${refusal}`);
  if (seen.reserved !== '0') problems.push(`${seen.reserved} still held`);
  return problems;
}

/** An answer that went through, and whose bill is what was booked. */
function judgeGeneration({ status, endedAtMs, answer, story }: Generation): string[] {
  if (status !== 200) return [`status ${status}: ${answer.slice(0, 200)}`];
  const { outcome } = story?.request ?? {};
  if (outcome === 'client_cancelled' && endedAtMs === undefined) return [];
  if (outcome !== 'completed') return [`outcome ${outcome}`];
  const debited = story?.booked?.['debited'];
  if (!answer.includes(`"svc_tokens_debited":"${debited}"`)) return [`the bill is not ${debited}`];
  return [];
}

/** A block of thinking without its text, for agents that want none: its signature stands for it. */
const HIDDEN = /"type":"thinking","thinking":"","signature":".+?"/;

/** What the upstream got back of the first answer. */
type Round = {
  readonly callId: string;
  readonly thinking: string;
  /** The id that the result names, and its text. */
  readonly resultId: unknown;
  readonly result: unknown;
};

/** The second request of a round: the call, its result with the file in it, and the thinking. */
export function judgeRound(
  seen: Seen,
  path: string,
  fileText: string,
): { readonly problems: string[]; readonly thinking: Thinking } {
  const second = seen.upstream.find((request) => readRound(request) !== undefined);
  const round = second && readRound(second);
  if (round === undefined) return { problems: ['no call came back'], thinking: 'lost' };
  const problems = [
    ...(seen.upstream.some((first) => continues(first, second)) ? [] : ['the prompt has changed']),
    ...(round.resultId === round.callId ? [] : ['the result does not follow its call']),
    ...(asText(round.result).includes(fileText) ? [] : ["the file's text is not in the result"]),
  ];
  const thought = noteThinking(path);
  const sent = seen.generations.some(({ body }) => body.includes(thought) || HIDDEN.test(body));
  if (round.thinking === thought) return { problems, thinking: sent ? 'replayed' : 'restored' };
  if (sent) problems.push('the agent sent the thinking back, and it did not arrive');
  return { problems, thinking: sent ? 'dropped' : 'lost' };
}

/** Whether a prompt begins with all of an earlier one, so that the upstream can reuse its work. */
function continues(first: RecordedRequest, second: RecordedRequest | undefined): boolean {
  if (second === undefined || first === second) return false;
  const count = turnsOf(first).length;
  const headOf = (request: RecordedRequest) => [
    ...['system', 'instructions', 'tools'].map((name) => request.body[name]),
    turnsOf(request).slice(0, count),
  ];
  return isDeepStrictEqual(headOf(first), headOf(second));
}

function turnsOf({ dialect, body }: RecordedRequest): readonly Fields[] {
  return (body[dialect === 'responses' ? 'input' : 'messages'] ?? []) as readonly Fields[];
}

type Fields = Readonly<Record<string, unknown>>;

/** The first call that a request gives back; absent where there is none. */
function readRound(request: RecordedRequest): Round | undefined {
  const turns = turnsOf(request);
  const read = READERS[request.dialect];
  return turns
    .map((turn, at) => read(turn, turns[at + 1] ?? {}, turns.slice(0, at)))
    .find((round) => round !== undefined);
}

const READERS = {
  chat: readChatRound,
  messages: readMessagesRound,
  responses: readResponsesRound,
} as const;

function readChatRound(turn: Fields, next: Fields): Round | undefined {
  const [call] = (turn['tool_calls'] ?? []) as readonly Fields[];
  if (call === undefined) return undefined;
  return {
    callId: String(call['id']),
    thinking: String(turn['reasoning_content'] ?? ''),
    resultId: next['tool_call_id'],
    result: next['content'],
  };
}

function readMessagesRound(turn: Fields, next: Fields): Round | undefined {
  const call = blocksOf(turn).find(({ type }) => type === 'tool_use');
  if (call === undefined) return undefined;
  // Such an upstream takes its thinking back with its own signature only.
  const thinking = blocksOf(turn).filter(({ signature }) => {
    return typeof signature === 'string' && signature.startsWith(SIGNATURE);
  });
  const [result] = blocksOf(next);
  return {
    callId: String(call['id']),
    thinking: thinking.map((block) => block['thinking']).join(''),
    resultId: result?.['tool_use_id'],
    result: result?.['content'],
  };
}

function readResponsesRound(
  turn: Fields,
  next: Fields,
  earlier: readonly Fields[],
): Round | undefined {
  if (turn['type'] !== 'function_call') return undefined;
  const thinking = earlier
    .filter(({ type }) => type === 'reasoning')
    // The summary of an item is for people: the model reads what is encrypted.
    .flatMap((item) =>
      item['encrypted_content'] === ENCRYPTED ? item['summary'] : item['content'],
    )
    .map((part) => (part as Fields)['text']);
  return {
    callId: String(turn['call_id']),
    thinking: thinking.join(''),
    resultId: next['call_id'],
    result: next['output'],
  };
}

function blocksOf({ content }: Fields): readonly Fields[] {
  return Array.isArray(content) ? content : [];
}

function asText(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}
