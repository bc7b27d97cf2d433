// Draws the clients' requests, the upstream's behaviour and the moment a client leaves. All of it
// travels in the prompt, so that the upstream needs no other channel; the mark in it joins the
// three records.

import type { Format } from '../support/client.ts';
import type { Random } from './random.ts';
import { type AccountName, type ModelName, STOP } from './setup.ts';

/**
 * ok           says all its words and reports what is true
 * silent       reports no usage; `zero` reports none at all, `absurd` what cannot be
 * cut          closes the connection after some words; `short` ends the body as it should, but the
 *              model never said that it was done; `reset` and `garbage` speak for themselves
 * refused      closes the connection before it answers
 * busy, broken 429 and 500
 */
export const BEHAVIOURS = [
  'ok',
  'silent',
  'zero',
  'absurd',
  'cut',
  'short',
  'reset',
  'garbage',
  'refused',
  'busy',
  'broken',
] as const;

export type BehaviourName = (typeof BEHAVIOURS)[number];

/**
 * stay         reads to the end
 * fin, reset   closes or resets the connection for good
 * stall        stops reading for a while and then resets
 * dawdle       stops reading for a while and then goes on
 */
export const LEAVINGS = ['stay', 'fin', 'reset', 'stall', 'dawdle'] as const;

export type Drawn = {
  readonly mark: string;
  /** The mark is its `Idempotency-Key` too. */
  readonly isKeyed?: boolean;
  readonly account: AccountName;
  readonly model: ModelName;
  readonly format: Format;
  readonly stream: boolean;
  readonly maxTokens: number;
  readonly behaviour: BehaviourName;
  /** What the model would say: so many words, so many in a piece, a gap after each piece. */
  readonly words: number;
  readonly wordsInPiece: number;
  readonly gapMs: number;
  /** Before the first byte of the answer. */
  readonly delayMs: number;
  /** After how many words a behaviour that breaks does so. */
  readonly breakAfter: number;
  /** Tokens that the model thinks unseen; it is the thinker. */
  readonly hidden: number;
  /** After how many words it says the client's stop sequence; -1 for never. */
  readonly stopAfter: number;
  readonly leaving: (typeof LEAVINGS)[number];
  /** How many bytes of the answer the client takes first; at 0 it leaves after `leaveAfterMs`. */
  readonly leaveAfterBytes: number;
  readonly leaveAfterMs: number;
  /** Of the prompt, behind what it says to the upstream. */
  readonly fillerCharacters: number;
};

/** A message may have a million characters in all. */
const LONG_PROMPT_CHARACTERS = 999_000;

export function drawRequest(random: Random, account: AccountName, mark: string): Drawn {
  const long = account === 'growing' ? random.chance(0.8) : random.chance(0.02);
  const words = long ? random.whole(4_200, 14_000) : random.whole(1, 120);
  const model = random.pick([
    ...(['swift', 'swift', 'swift-messages', 'swift-messages', 'steady', 'careful'] as const),
    ...(['steady', 'thinker', 'thinker'] as const),
  ]);
  const thinks = model === 'thinker';
  return {
    mark,
    account,
    model,
    hidden: thinks ? random.whole(1, 60) : 0,
    stopAfter: thinks && random.chance(0.5) ? random.whole(0, words) : -1,
    format: random.pick(['chat', 'messages']),
    stream: random.chance(0.7),
    maxTokens: drawMaxTokens(random, long),
    behaviour: random.chance(0.55) ? 'ok' : random.pick(BEHAVIOURS),
    words,
    wordsInPiece: long ? random.whole(20, 60) : 1,
    gapMs: random.pick(long ? [0, 2, 5] : [0, 0, 0, 2, 10, 30]),
    delayMs: random.chance(0.2) ? random.whole(1, 400) : 0,
    breakAfter: random.whole(0, words),
    leaving: random.chance(0.6) ? 'stay' : random.pick(LEAVINGS),
    leaveAfterBytes: drawLeaveAfter(random),
    leaveAfterMs: random.whole(0, 60),
    // Counted in many turns of the loop, and then worth a large hold: only one account pays for that.
    fillerCharacters: account === 'roomy' && random.chance(0.03) ? LONG_PROMPT_CHARACTERS : 0,
  };
}

function drawMaxTokens(random: Random, long: boolean): number {
  return long ? random.pick([20_000, 30_000]) : random.pick([30, 100, 200, 200, 1_000]);
}

/** Before the head, in it, somewhere in the body, or as late as the last event. */
function drawLeaveAfter(random: Random): number {
  return random.pick([
    () => 0,
    () => random.whole(1, 400),
    () => random.whole(400, 4_000),
    () => random.whole(4_000, 20_000),
  ])();
}

const PROMPT_FIELDS = [
  ...['behaviour', 'words', 'wordsInPiece', 'gapMs', 'delayMs', 'breakAfter'],
  ...['hidden', 'stopAfter'],
];

/** The user's message. Its values are words and numbers: nothing in it is ever escaped. */
export function promptOf(drawn: Drawn): string {
  const facts = new Map<string, unknown>(Object.entries(drawn));
  const fields = ['mark', 'account', ...PROMPT_FIELDS].map((name) => `${name}=${facts.get(name)}`);
  return `crash ${fields.join(' ')} end${fillerOf(drawn)}`;
}

/** Words of its own for each request, so that none of them has been counted before. */
function fillerOf({ mark, fillerCharacters }: Drawn): string {
  if (fillerCharacters === 0) return '';
  const words = Array.from(
    { length: fillerCharacters / 10 },
    (_, at) => ` x${at.toString(36)} filler`,
  );
  return ` ${mark}${words.join('')}`.slice(0, fillerCharacters);
}

/** What a prompt asks an upstream to do. */
export type Asked = Pick<
  Drawn,
  | ('mark' | 'account' | 'behaviour' | 'words' | 'wordsInPiece' | 'gapMs' | 'delayMs')
  | ('breakAfter' | 'hidden' | 'stopAfter')
>;

export function readPrompt(text: string): Asked {
  const fields = /crash ([^"\\]+) end/.exec(text)?.[1] ?? '';
  const facts = new Map(fields.split(' ').map((field) => field.split('=') as [string, string]));
  const number = (name: string) => Number(facts.get(name));
  return {
    mark: facts.get('mark') ?? '',
    account: facts.get('account') as AccountName,
    behaviour: facts.get('behaviour') as BehaviourName,
    words: number('words'),
    wordsInPiece: number('wordsInPiece'),
    gapMs: number('gapMs'),
    delayMs: number('delayMs'),
    breakAfter: number('breakAfter'),
    hidden: number('hidden'),
    stopAfter: number('stopAfter'),
  };
}

/** The body of the request, in its format. The mark is the end user's id as well: books keep that. */
export function bodyOf(drawn: Drawn): string {
  const { mark, model, format, stream, maxTokens } = drawn;
  const messages = [{ role: 'user', content: promptOf(drawn) }];
  const shared = { model, stream, max_tokens: maxTokens, messages };
  const stop = drawn.stopAfter < 0 ? [] : [STOP];
  return JSON.stringify(
    format === 'chat'
      ? { ...shared, user: mark, stop }
      : { ...shared, metadata: { user_id: mark }, stop_sequences: stop },
  );
}
