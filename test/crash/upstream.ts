// The upstream of the crash test and its record: for each request, what it generated and when, and
// how the exchange ended. It does what the prompt says (draw.ts).

import { sendWhole, streamHead } from '../support/behaviours.ts';
import {
  chatFrame,
  type ReportedUsage,
  type Script,
  streamFrames,
  wholeBody,
} from '../support/render.ts';
import { type Exchange, startUpstream, type Upstream } from '../support/upstream.ts';
import { type Asked, type BehaviourName, readPrompt } from './draw.ts';
import { type AccountName, countWords, MODELS, REPORTED_PROMPT, STOP, WORD } from './setup.ts';

/** So many words had been sent at that time, all in all. */
export type Sent = { readonly atMs: number; readonly words: number };

/**
 * finished   said all that it wanted
 * broke      broke off as instructed, or refused
 * gone       the gateway closed the connection before that
 */
export type Served = {
  readonly mark: string;
  readonly account: AccountName;
  readonly model: string;
  readonly atMs: number;
  readonly sent: Sent[];
  /** What it says at its end. Absent where that is nothing, or nothing that may be believed. */
  reported?: ReportedUsage;
  ended?: { readonly how: 'finished' | 'broke' | 'gone'; readonly atMs: number };
};

export type CrashUpstream = {
  readonly upstream: Upstream;
  readonly book: Served[];
  /** Lets the exchanges of the mark `burst` end; see `burst.ts`. */
  readonly openGate: () => void;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** `happened` is called for each request and of each piece of content. */
export async function startCrashUpstream(
  happened: (trigger: 'dispatch' | 'content') => void,
): Promise<CrashUpstream> {
  const book: Served[] = [];
  let gate = Promise.withResolvers<void>();

  async function serve(exchange: Exchange): Promise<void> {
    const asked = readPrompt(exchange.request.text);
    const { mark, account } = asked;
    const { model } = exchange.request;
    const served: Served = { mark, account, model, atMs: Date.now(), sent: [] };
    book.push(served);
    happened('dispatch');
    if (mark.startsWith('burst')) await Promise.race([gate.promise, exchange.untilGone()]);
    const how = await answer(exchange, asked, served, () => happened('content'));
    served.ended = { how, atMs: Date.now() };
  }

  const upstream = await startUpstream(Object.fromEntries(MODELS.map((name) => [name, serve])));
  return {
    upstream,
    book,
    openGate() {
      gate.resolve();
      gate = Promise.withResolvers<void>();
    },
    [Symbol.asyncDispose]: () => upstream.close(),
  };
}

type How = 'finished' | 'broke' | 'gone';

async function answer(
  exchange: Exchange,
  asked: Asked,
  served: Served,
  onContent: () => void,
): Promise<How> {
  // The fallback is there to serve; the model that it stands in for fails as instructed.
  const behaviour: BehaviourName = exchange.request.model === 'spare' ? 'ok' : asked.behaviour;
  if (asked.delayMs > 0) await exchange.sleep(asked.delayMs);
  if (behaviour === 'refused') return end(exchange.cut);
  if (behaviour === 'busy') return fail(exchange, 429);
  if (behaviour === 'broken') return fail(exchange, 500);
  const script = scriptOf(exchange, asked, behaviour, served);
  const breaksAt = BREAKS[behaviour] === undefined ? Number.POSITIVE_INFINITY : asked.breakAfter;
  const say = (text: string) => {
    exchange.write(text);
    const words = countWords(text);
    if (words === 0) return;
    served.sent.push({ atMs: Date.now(), words: sentWords(served) + words });
    onContent();
  };
  if (!exchange.request.stream) {
    for (let said = 0; said < script.pieces.length && asked.gapMs > 0; said += 1) {
      await exchange.sleep(asked.gapMs);
      if (exchange.gone()) return 'gone';
    }
    if (exchange.gone()) return 'gone';
    if (BREAKS[behaviour] !== undefined) return end(exchange.reset);
    const body = wholeBody(exchange.request.dialect, exchange.request.model, script);
    served.sent.push({ atMs: Date.now(), words: countWords(body) });
    sendWhole(exchange, 200, body);
    onContent();
    return 'finished';
  }
  streamHead(exchange);
  for (const frame of streamFrames(exchange.request.dialect, exchange.request.model, script)) {
    if (exchange.gone()) return 'gone';
    if (sentWords(served) >= breaksAt) {
      // What was said before has to arrive before the connection breaks.
      await exchange.sleep(5);
      return end(() => BREAKS[behaviour]?.(exchange));
    }
    say(frame);
    await (asked.gapMs > 0 ? exchange.sleep(asked.gapMs) : breathe());
  }
  exchange.end();
  return 'finished';
}

const BREAKS: Partial<Record<BehaviourName, (exchange: Exchange) => void>> = {
  cut: (exchange) => exchange.cut(),
  short: (exchange) => exchange.end(),
  reset: (exchange) => exchange.reset(),
  garbage: (exchange) => {
    exchange.write('data: {"not json\n\n');
    exchange.write(chatFrame('garbage', { content: ' still here' }));
    exchange.end();
  },
};

/** A model stops at the bound in the request, and says so. */
function scriptOf(
  exchange: Exchange,
  asked: Asked,
  behaviour: BehaviourName,
  served: Served,
): Script {
  const { body } = exchange.request;
  const bound = Number(body['max_tokens'] ?? body['max_completion_tokens'] ?? asked.words);
  const hidden = Math.min(asked.hidden, bound);
  const words = Math.min(asked.words, bound - hidden);
  let left = words;
  const say = (most: number): string => {
    const count = Math.min(asked.wordsInPiece, left, most);
    left -= count;
    return WORD.repeat(count);
  };
  const pieces: { text: string }[] = [];
  while (left > 0) {
    const before = words - left;
    const toStop = asked.stopAfter - before;
    pieces.push({ text: (toStop === 0 ? STOP : '') + say(toStop > 0 ? toStop : left) });
  }
  const usage = usageOf(behaviour, words, hidden);
  if (behaviour !== 'zero' && behaviour !== 'absurd' && usage !== undefined)
    served.reported = usage;
  const finish = words + hidden < asked.words + asked.hidden ? 'length' : 'stop';
  return { pieces, finish, ...(usage === undefined ? {} : { usage }) };
}

function usageOf(
  behaviour: BehaviourName,
  words: number,
  hidden: number,
): ReportedUsage | undefined {
  if (behaviour === 'silent') return undefined;
  if (behaviour === 'zero') return { prompt: 0, cached: 0, completion: 0 };
  if (behaviour === 'absurd') return { prompt: -3, cached: 1e18, completion: 1e12 };
  return { ...REPORTED_PROMPT, completion: words + hidden, reasoning: hidden };
}

function end(act: () => void): 'broke' {
  act();
  return 'broke';
}

function fail(exchange: Exchange, status: number): 'broke' {
  sendWhole(exchange, status, '{"error":{"message":"The upstream is scripted to fail."}}');
  return 'broke';
}

/** How many words an exchange has sent, until now or until some time. */
export function sentWords(served: Served, untilMs = Number.POSITIVE_INFINITY): number {
  return served.sent.findLast(({ atMs }) => atMs <= untilMs)?.words ?? 0;
}

function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
