// Hidden thinking is charged: over the real pipeline and a real ledger, with an upstream that
// reports thinking only at its end. No stop sequence, disconnect, streaming mode or request beside
// it lowers a charge below what was delivered, what is reported as hidden, and the prompt.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { BUILT_IN_PROFILES } from '../../src/core/built-in-profiles.ts';
import { createDeadlines } from '../../src/core/deadlines.ts';
import { createLearned } from '../../src/core/learned.ts';
import type { Catalog, Model, Upstream } from '../../src/core/model.ts';
import { micro, pico } from '../../src/core/money.ts';
import { type ChatProfile, DEFAULT_PROFILE, DEMO_PROFILE } from '../../src/core/profile.ts';
import { say } from '../../src/core/sentence.ts';
import { generate } from '../../src/generate/generate.ts';
import { moneyFor } from '../../src/generate/money.ts';
import type { CheckedRequest } from '../../src/generate/pipeline-types.ts';
import { createAttempts } from '../../src/upstream/attempt.ts';
import { GIVEN_UP, type UpstreamClient } from '../../src/upstream/transport.ts';
import { readAnswerContent } from '../support/answer.ts';
import { temporaryDirectory } from '../support/database.ts';
import {
  closeBooks,
  holdOf,
  NOW,
  type OpenBooks,
  openBooks,
  placed,
  releaseOf,
} from '../support/ledger.ts';
import { chatUpstream, TIMEOUTS } from '../support/model.ts';
import { alwaysAt } from '../support/price.ts';
import { type Script, streamFrames, wholeBody } from '../support/render.ts';
import { candidate } from './fixtures.ts';
import { catalogWith, openPipeline, planWith, reads, TOKEN } from './rig.ts';

const directory = temporaryDirectory();
const PRICE = {
  version: 'p',
  input: pico(10n ** 12n),
  cachedInput: pico(10n ** 12n),
  cacheWrite: pico(10n ** 12n),
  output: pico(4n * 10n ** 12n),
};
const REPORTED_PROMPT = 7;
const MAX_OUTPUT = 40_000;

let open: OpenBooks;
beforeAll(async () => {
  open = await openBooks(directory);
});
afterAll(() => closeBooks(open));

const { dialect: _, profile: __, profileName: ___, ...REMOTE } = chatUpstream('remote');
const TIMEOUT = { ...TIMEOUTS, firstContentMs: 60_000, totalMs: 60_000 };
type ChatUpstream = Extract<Upstream, { dialect: 'chat' }>;
const chat = (name: string, changes: Partial<ChatProfile> = {}): ChatUpstream => {
  const profile = BUILT_IN_PROFILES.get(name);
  if (profile?.dialect !== 'chat') throw new Error(`no profile ${name}`);
  return { ...REMOTE, dialect: 'chat', profileName: name, profile: { ...profile, ...changes } };
};
const UPSTREAMS: Readonly<Record<string, Upstream>> = {
  openai: chat('openai'),
  openrouter: chat('openrouter', { stopMax: 0 }),
  chat: chat('chat'),
  vllm: chat('vllm', { stopMax: 0 }),
  billed: { ...chat('vllm', { stopMax: 0 }), cancelStopsBilling: false },
  messages: {
    ...REMOTE,
    dialect: 'messages',
    profileName: 'messages',
    profile: { ...DEFAULT_PROFILE.messages, stopMax: 0 },
  },
};

const PLAN = planWith({
  requestsPerMinute: 1_000,
  tokensPerMinute: 1_000_000_000,
  maxContext: 100_000,
});

function catalogOf(upstream: Upstream): Catalog {
  const { model: base } = candidate('thinker');
  const model: Model = {
    ...base,
    contextWindow: 100_000,
    maxOutput: MAX_OUTPUT,
    features: new Set(['reasoning']),
    prices: alwaysAt(PRICE),
    servedBy: [
      {
        upstream: upstream.id,
        model: 'thinker',
        weight: 1,
        profile: upstream.dialect === 'demo' ? DEMO_PROFILE : upstream.profile,
        profileChoice: { name: 'test', reason: say('a test') },
        timeouts: TIMEOUT,
      },
    ],
  };
  return catalogWith(PLAN, [model], [upstream]);
}

/** One request: what its upstream says, and what its client does. */
type Case = {
  readonly upstream: string;
  readonly words: readonly string[];
  readonly hidden: number;
  readonly stop: readonly string[];
  readonly stream: boolean;
  readonly maxTokens: number;
  /** The client leaves when the upstream is read for this time; at 0 while it has not answered. */
  readonly leaveAt: number | undefined;
  /** At this read, another request of the account reserves all that is left. */
  readonly lockAt?: number | undefined;
  /** Frames in one read. */
  readonly framesInRead: number;
  /** The client leaves without having read anything. */
  readonly isStalled?: boolean;
};

/** One token a character, as the gateway counts in this test. */
const size = (text: string): number => text.length;

function scriptOf({ words, hidden, maxTokens }: Case): Script {
  const visible = size(words.join(''));
  const completion = visible + hidden;
  return {
    pieces: words.map((text) => ({ text })),
    finish: completion > maxTokens ? 'length' : 'stop',
    usage: { prompt: REPORTED_PROMPT, cached: 0, completion, reasoning: hidden },
  };
}

/** Turns of the event loop, in which everything that was aborted notices. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Plays a case on one connection, and has its client leave or `lock` the balance when it is time. */
function clientOf(which: Case, leave: () => void, lock: () => Promise<unknown>): UpstreamClient {
  const script = scriptOf(which);
  return {
    async send({ upstream, body, signal }) {
      const dialect = upstream.dialect === 'messages' ? 'messages' : 'chat';
      await turns();
      if (which.leaveAt === 0) leave();
      await turns();
      if (signal.aborted) return GIVEN_UP;
      const streams = (JSON.parse(body) as { stream?: boolean }).stream === true;
      const frames = streamFrames(dialect, 'thinker', script);
      let reads = 0;
      const read = async () => {
        reads += 1;
        if (reads === which.lockAt) await lock();
        await turns();
        if (reads === which.leaveAt) leave();
        await turns();
        if (signal.aborted) throw new Error('aborted');
        const piece = frames.splice(0, which.framesInRead).join('');
        return piece === '' ? { done: true } : { done: false, value: Buffer.from(piece) };
      };
      return {
        status: 200,
        isJson: !streams,
        async text() {
          if (which.leaveAt !== undefined) leave();
          await turns();
          return signal.aborted ? GIVEN_UP : wholeBody(dialect, 'thinker', script);
        },
        reader: () => ({ read, cancel: async () => {} }),
      };
    },
  };
}

let requests = 0;

/** What a case cost, and what its client had got. */
async function play(which: Case) {
  requests += 1;
  const accountId = `acct_${requests}`;
  const requestId = `req_${requests}`;
  const upstream = UPSTREAMS[which.upstream];
  if (upstream === undefined) throw new Error('no such upstream');
  const catalog = catalogOf(upstream);
  const client = new AbortController();
  const neighbour = `${requestId}_neighbour`;
  let isLocked = false;
  const lock = async () => {
    const { available } = await open.books.balance(accountId);
    // The request itself may buy output at the same moment.
    isLocked = (await placed(open.ledger, holdOf(neighbour, accountId, available))).ok;
  };
  const { dependencies, call, inFlight } = await openPipeline(open, catalog, accountId, {
    credit: 10_000_000n * TOKEN,
    startAttempt: createAttempts({
      client: clientOf(which, () => client.abort(), lock),
      clock: () => NOW,
      deadlines: createDeadlines(() => NOW),
    }),
    onInternal: (_id, error) => {
      throw error;
    },
  });
  const readBody = reads({
    model: 'thinker',
    max_tokens: which.maxTokens,
    stream: which.stream,
    stop: which.stop,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  const asked = call(requestId, { readBody, signal: client.signal });
  const generated = await generate(dependencies, asked);
  let got = generated.kind === 'whole' ? generated.body : '';
  if (generated.kind === 'stream' && which.isStalled === true) {
    for (let turn = 0; turn < 100; turn += 1) await turns();
    client.abort();
  } else if (generated.kind === 'stream') {
    const reader = generated.body.getReader();
    const readAll = async (): Promise<void> => {
      for (;;) {
        const { done, value: bytes } = await reader.read();
        if (done) return;
        got += Buffer.from(bytes).toString();
      }
    };
    const left = new Promise((resolve) => client.signal.addEventListener('abort', resolve));
    await Promise.race([readAll(), left.then(turns)]);
  }
  await inFlight.idle();
  if (isLocked) await open.ledger.release(releaseOf(neighbour));
  const story = await open.books.explain(requestId);
  if (story?.record === undefined) throw new Error('there is no record');
  const { charged, debited, outcome, outputTokens } = story.record;
  if (!isLocked) expect(debited).toBe(charged);
  expect(await open.books.balance(accountId)).toMatchObject({ held: micro(0n) });
  const text = got === '' ? '' : readAnswerContent('chat', got).text;
  return { charged, outcome, outputTokens, text, promptTokens: story.hold.promptTokens };
}

const priceOf = (prompt: number, output: number): bigint =>
  (BigInt(prompt) + 4n * BigInt(output)) * TOKEN;

/** More than the output that a hold covers at first. */
const LONG_WORDS = Array.from({ length: 12 }, () => 'x'.repeat(900));

const aCase: fc.Arbitrary<Case> = fc.record({
  upstream: fc.constantFrom('openrouter', 'chat', 'messages', 'billed'),
  words: fc.oneof(
    fc.array(fc.constantFrom('a', 'ab', ' abc ', 'b b', 'x'.repeat(900)), { maxLength: 12 }),
    fc.constant(LONG_WORDS),
  ),
  hidden: fc.oneof(fc.nat(60), fc.nat(20_000)),
  stop: fc.constantFrom([], ['b'], ['ab', 'q'], [' '], ['z'], ['1', '2', '3', '4', 'b']),
  stream: fc.boolean(),
  maxTokens: fc.constantFrom(200, 4_000, MAX_OUTPUT),
  leaveAt: fc.option(fc.nat(8), { nil: undefined }),
  lockAt: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
  framesInRead: fc.constantFrom(1, 2, 5, 1_000),
});

/** Its upstream reports more than it was allowed, of which a part was cut. */
const REPORTED_BEYOND: Case = {
  upstream: 'messages',
  words: ['ab'],
  hidden: 3_999,
  stop: ['b'],
  stream: false,
  maxTokens: 4_000,
  leaveAt: undefined,
  framesInRead: 1,
};

test('law: nothing lowers a charge below what was delivered, what was hidden, and the prompt', async () => {
  await fc.assert(
    fc.asyncProperty(aCase, async (which) => {
      const { charged, text, promptTokens } = await play(which);
      const prompt = Math.min(promptTokens, REPORTED_PROMPT);
      const delivered = Math.min(which.maxTokens, size(text) + which.hidden);
      expect(charged).toBeGreaterThanOrEqual(priceOf(prompt, delivered));
      // Nor is anything dearer than the same answer, read to its end.
      const made = Math.min(which.maxTokens, size(which.words.join('')) + which.hidden);
      const most = priceOf(Math.max(promptTokens, REPORTED_PROMPT), made);
      expect(charged).toBeLessThanOrEqual(most);
    }),
    { numRuns: 150, examples: [[REPORTED_BEYOND]] },
  );
}, 120_000);

const LONG: Case = {
  upstream: 'openrouter',
  words: ['A short answer.', ' b ', 'x'.repeat(300)],
  hidden: 9_980,
  stop: [],
  stream: true,
  maxTokens: 30_000,
  leaveAt: undefined,
  framesInRead: 1,
};

test('a stop sequence costs what was delivered and what was hidden, and not what was not read', async () => {
  for (const stream of [true, false]) {
    const { charged, outcome, text } = await play({ ...LONG, stream, stop: ['b'] });
    expect([text, outcome]).toEqual(['A short answer. ', 'completed']);
    expect(charged).toBe(micro(priceOf(REPORTED_PROMPT, 16 + 9_980)));
  }
});

test('what is not read costs from 1,024 tokens on, and never more than the answer', async () => {
  const words = ['b', 'x'.repeat(3_000)];
  const { charged } = await play({ ...LONG, words, stop: ['b'] });
  expect(charged).toBe(micro(priceOf(REPORTED_PROMPT, 9_980 + 3_001 - 1_024)));
});

test('leaving costs what staying does, also above what was held', async () => {
  const stayed = await play(LONG);
  for (const stream of [true, false]) {
    for (const leaveAt of [0, 1, 2, 3]) {
      const left = await play({ ...LONG, stream, leaveAt });
      expect([left.outcome, left.charged]).toEqual(['client_cancelled', stayed.charged]);
    }
  }
});

test('an answer that the balance ends costs what was hidden, and its text as behind a stop sequence', async () => {
  for (const stream of [true, false]) {
    const cut = await play({ ...LONG, words: LONG_WORDS, stream, lockAt: 1 });
    expect([cut.outcome, cut.text.length]).toEqual(['stopped_balance', 4_096]);
    const unread = 12 * 900 - 4_096;
    expect(cut.charged).toBe(micro(priceOf(REPORTED_PROMPT, 4_096 + 9_980 + unread - 1_024)));
  }
});

test('an upstream that shows its thinking is stopped at the sequence, for what was delivered', async () => {
  const shown = { ...LONG, upstream: 'vllm', stop: ['b'] };
  const { outputTokens, promptTokens, charged } = await play({ ...shown, hidden: 0 });
  expect([outputTokens, charged]).toEqual([16, micro(priceOf(promptTokens, 16))]);
});

test('what a stop sequence holds back is charged if a client leaves that has not read', async () => {
  // Six bytes each in the answer: more than waits for a client.
  const words = Array.from({ length: 30 }, () => '\u0001'.repeat(900));
  const stop = [`${'\u0001'.repeat(3_000)}b`];
  const left = { ...LONG, upstream: 'vllm', hidden: 0, words, stop, isStalled: true };
  const { outcome, outputTokens } = await play(left);
  // All that was read, in whole pieces.
  expect([outcome, outputTokens % 900, outputTokens > 3_000]).toEqual([
    'client_cancelled',
    0,
    true,
  ]);
});

test('an upstream that bills an answer to its end is read on at each cut', async () => {
  const words = ['b', 'x'.repeat(3_000)];
  const billed = { ...LONG, upstream: 'billed', hidden: 0 };
  for (const stream of [true, false]) {
    const stopped = await play({ ...billed, words, stream, stop: ['b'] });
    expect([stopped.text, stopped.outcome]).toEqual(['', 'completed']);
    expect(stopped.charged).toBe(micro(priceOf(REPORTED_PROMPT, 3_001 - 1_024)));
    const cut = await play({ ...billed, words: LONG_WORDS, stream, lockAt: 1 });
    expect([cut.outcome, cut.text.length]).toEqual(['stopped_balance', 4_096]);
    expect(cut.charged).toBe(micro(priceOf(REPORTED_PROMPT, 12 * 900 - 1_024)));
  }
});

test('output that no slice of the balance stops is part of the worst case of a hold', () => {
  const hidden = (name: string, ...stop: string[]): bigint => {
    const upstream = UPSTREAMS[name];
    if (upstream === undefined) throw new Error('no such upstream');
    const catalog = catalogOf(upstream);
    const model = catalog.models[0];
    const facts = { accountId: 'acct_1' };
    const request = { stop };
    const asked = { promptTokens: 7, outputBound: MAX_OUTPUT, price: PRICE, request, facts };
    return moneyFor(
      { catalog, model, ...asked } as unknown as CheckedRequest,
      createLearned(() => 0),
    ).hidden;
  };
  expect(hidden('vllm', 'z'.repeat(1_024))).toBe(0n);
  const most = hidden('openai');
  expect(most).toBeGreaterThan(0n);
  expect(hidden('billed')).toBe(most);
  // The cutter holds back what may begin the sequence.
  expect(hidden('vllm', 'b', 'z'.repeat(1_025))).toBe(most);
});
