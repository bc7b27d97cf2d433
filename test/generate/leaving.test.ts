// Law: no way to end an answer costs its customer more than a quarter beyond what was made until then
// and one read, nor its operator more than a quarter of it. Over the real pipeline and a real ledger,
// with an upstream that works at a known pace in virtual time, hidden or shown.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { BUILT_IN_PROFILES } from '../../src/core/built-in-profiles.ts';
import { createDeadlines } from '../../src/core/deadlines.ts';
import type { Catalog, Model, Upstream } from '../../src/core/model.ts';
import { recompute } from '../../src/core/unseen.ts';
import { generate } from '../../src/generate/generate.ts';
import { createAttempts } from '../../src/upstream/attempt.ts';
import type { StartTimer } from '../../src/upstream/timer.ts';
import { GIVEN_UP, type UpstreamClient } from '../../src/upstream/transport.ts';
import { temporaryDirectory } from '../support/database.ts';
import { closeBooks, NOW, type OpenBooks, openBooks } from '../support/ledger.ts';
import { chatUpstream, TIMEOUTS } from '../support/model.ts';
import { flatPrice } from '../support/price.ts';
import { alwaysAt } from '../support/price.ts';
import { candidate } from './fixtures.ts';
import { catalogWith, openPipeline, planWith, reads, TOKEN } from './rig.ts';

const directory = temporaryDirectory();
let open: OpenBooks;
beforeAll(async () => {
  open = await openBooks(directory);
});
afterAll(() => closeBooks(open));

const CHUNK_MS = 50;
const WINDOW = 1_000_000;
const PROMPT_REPORT = 40;

type Phase = { readonly shows: boolean; readonly ms: number };

type Case = {
  readonly profile: 'openai' | 'anthropic' | 'vllm';
  readonly reasons: boolean;
  readonly stream: boolean;
  /** Tokens a second; a token is a character. */
  readonly pace: number;
  /** What the upstream does, from the request on. */
  readonly phases: readonly Phase[];
  readonly end:
    | { readonly kind: 'stays' }
    | { readonly kind: 'leaves'; readonly atMs: number }
    | { readonly kind: 'stops'; readonly atMs: number }
    | { readonly kind: 'broke'; readonly atMs: number }
    | { readonly kind: 'timer'; readonly atMs: number };
  readonly maxTokens: number;
};

/** The frames of an answer and when they come, in milliseconds from the request. */
type Frame = { readonly at: number; readonly text: string };

function framesOf({ profile, pace, phases, end }: Case): readonly Frame[] {
  const writer = profile === 'anthropic' ? MESSAGES : CHAT;
  const frames: Frame[] = [...writer.start()];
  let at = 0;
  let made = 0;
  let shown = 0;
  let hasStopped = false;
  for (const { shows, ms } of phases) {
    const until = at + ms;
    if (!shows) made += Math.round((ms * pace) / 1_000);
    while (shows && at < until) {
      const tokens = Math.max(1, Math.round((CHUNK_MS * pace) / 1_000));
      at += CHUNK_MS;
      made += tokens;
      shown += tokens;
      const stops: boolean = end.kind === 'stops' && at >= end.atMs && !hasStopped;
      hasStopped ||= stops;
      frames.push({ at, text: writer.text(`${stops ? 'S' : 'x'}${'x'.repeat(tokens - 1)}`) });
    }
    at = Math.max(at, until);
  }
  return [...frames, { at, text: writer.end(made, made - shown) }];
}

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const CHAT = {
  start: () => [{ at: 0, text: event({ choices: [{ index: 0, delta: { role: 'assistant' } }] }) }],
  text: (content: string) => event({ choices: [{ index: 0, delta: { content } }] }),
  end: (made: number, reasoning: number) =>
    event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
    event({
      choices: [],
      usage: {
        prompt_tokens: PROMPT_REPORT,
        completion_tokens: made,
        completion_tokens_details: { reasoning_tokens: reasoning },
      },
    }) +
    'data: [DONE]\n\n',
};
const MESSAGES = {
  start: () => [
    {
      at: 0,
      text:
        event({
          type: 'message_start',
          message: { usage: { input_tokens: PROMPT_REPORT, output_tokens: 1 } },
        }) + event({ type: 'content_block_start', index: 0, content_block: { type: 'text' } }),
    },
  ],
  text: (text: string) =>
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  end: (made: number) =>
    event({ type: 'content_block_stop', index: 0 }) +
    event({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: made },
    }) +
    event({ type: 'message_stop' }),
};

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Virtual time, whose timers fire as it passes. */
function createWorld() {
  let nowMs = 0;
  const deadlines = createDeadlines(() => nowMs);
  const startTimer: StartTimer = (afterMs, fire) => deadlines.start(afterMs, fire);
  return {
    now: () => nowMs,
    deadlines,
    startTimer,
    /** Passes time in steps, until then or until `isOver`. */
    async passTo(at: number, isOver: () => boolean): Promise<void> {
      while (nowMs < at && !isOver()) {
        nowMs = Math.min(at, nowMs + 1_000);
        deadlines.sweep();
        await turns();
      }
    },
  };
}

type World = ReturnType<typeof createWorld>;

/** One attempt is made; `endedAt` is when the gateway closed it, or when it had ended. */
function upstreamOf(which: Case, world: World, leave: () => void) {
  const seen = { endedAt: undefined as number | undefined, calls: 0 };
  const client: UpstreamClient = {
    async send({ body, signal }) {
      seen.calls += 1;
      const begunAt = world.now();
      const frames = [...framesOf(which)];
      const streams = (JSON.parse(body) as { stream?: boolean }).stream === true;
      const isOver = () => signal.aborted;
      const passTo = async (at: number): Promise<void> => {
        const { end } = which;
        if (end.kind === 'leaves' && begunAt + end.atMs <= begunAt + at) {
          await world.passTo(begunAt + end.atMs, isOver);
          leave();
          await turns();
        }
        await world.passTo(begunAt + at, isOver);
        if (signal.aborted) seen.endedAt ??= world.now();
      };
      return {
        status: 200,
        isJson: !streams,
        async text() {
          const last = frames.at(-1)?.at ?? 0;
          await passTo(last);
          if (signal.aborted) return GIVEN_UP;
          seen.endedAt ??= world.now();
          throw new Error('no case lets a whole answer come');
        },
        reader: () => ({
          async read() {
            const next = frames.shift();
            if (next === undefined) return { done: true };
            await passTo(next.at);
            if (signal.aborted) throw new Error('aborted');
            if (frames.length === 0) seen.endedAt ??= world.now();
            return { done: false, value: Buffer.from(next.text) };
          },
          async cancel() {
            seen.endedAt ??= world.now();
          },
        }),
      };
    },
  };
  return { client, seen };
}

function catalogOf({ profile: name, reasons }: Case, timeouts: typeof TIMEOUTS): Catalog {
  const profile = BUILT_IN_PROFILES.get(name);
  if (profile === undefined) throw new Error(`no profile ${name}`);
  const { dialect: _, profile: __, profileName: ___, ...remote } = chatUpstream('remote');
  const base = { ...remote, profileName: name };
  // The gateway looks for each sequence itself.
  const held = { ...profile, stopMax: 0 };
  const upstream = { ...base, dialect: held.dialect, profile: held } as Upstream;
  const { model } = candidate('thinker');
  const thinker: Model = {
    ...model,
    contextWindow: WINDOW,
    maxOutput: 100_000,
    features: new Set(reasons ? ['reasoning'] : []),
    prices: alwaysAt(flatPrice('p', 1_000_000_000_000n)),
    servedBy: [
      {
        ...{ upstream: upstream.id, model: 'thinker', weight: 1, profile: held, timeouts },
        profileChoice: { name, reason: 'a test' },
      },
    ],
  };
  const plan = planWith({ requestsPerMinute: 1e6, tokensPerMinute: 1e12, maxContext: WINDOW });
  return catalogWith(plan, [thinker], [upstream]);
}

let requests = 0;

async function play(which: Case) {
  requests += 1;
  const accountId = `acct_${requests}`;
  const requestId = `req_${requests}`;
  const world = createWorld();
  const client = new AbortController();
  const { client: upstream, seen } = upstreamOf(which, world, () => client.abort());
  const firstContentMs = which.end.kind === 'timer' ? which.end.atMs : 10_000_000;
  const timeouts = { ...TIMEOUTS, firstContentMs, firstByteMs: 10_000_000, totalMs: 20_000_000 };
  const catalog = catalogOf(which, { ...timeouts, idleMs: 10_000_000 });
  const credit = which.end.kind === 'broke' ? 5_000n : 1_000_000n;
  const { dependencies, call, inFlight } = await openPipeline(open, catalog, accountId, {
    credit: credit * TOKEN,
    clock: () => NOW + world.now(),
    startTimer: world.startTimer,
    startAttempt: createAttempts({
      client: upstream,
      clock: () => NOW + world.now(),
      deadlines: world.deadlines,
    }),
    onInternal: (_id, error) => {
      throw error;
    },
  });
  const usage = {
    ...{ inputTokens: PROMPT_REPORT, cachedInputTokens: 0, cacheWriteTokens: 0 },
    ...{ outputTokens: which.pace * 100, reasoningTokens: 0, basis: 'reported' as const },
  };
  const before = { model: 'thinker', upstream: 'remote', accountId: 'another' };
  dependencies.learned.finished({ ...before, usage, counted: PROMPT_REPORT, workMs: 100_000 });
  const readBody = reads({
    model: 'thinker',
    max_tokens: which.maxTokens,
    stream: which.stream,
    ...(which.end.kind === 'stops' && { stop: ['S'] }),
    messages: [{ role: 'user', content: 'x'.repeat(PROMPT_REPORT) }],
  });
  const answer = await generate(dependencies, call(requestId, { readBody, signal: client.signal }))
    .then(async (generated) => {
      if (generated.kind === 'stream') {
        const left = new Promise((done) => client.signal.addEventListener('abort', done));
        await Promise.race([new Response(generated.body).text().catch(() => ''), left]);
      }
      return generated.kind;
    })
    .catch((error: unknown) => error);
  await inFlight.idle();
  const story = await open.books.explain(requestId);
  if (story?.record === undefined) throw new Error(`there is no record of ${String(answer)}`);
  const workedMs = seen.endedAt ?? world.now();
  const { record } = story;
  const all = which.phases.reduce((sum, { ms }) => sum + ms, 0);
  const made = Math.round((Math.min(workedMs, all * seen.calls) * which.pace) / 1_000);
  return { record, made, seen, prompt: PROMPT_REPORT, counted: story.hold.promptTokens, answer };
}

const aPhase = fc.record({ shows: fc.boolean(), ms: fc.integer({ min: 10, max: 400 }) });
const phases = fc
  .array(aPhase, { minLength: 1, maxLength: 5 })
  .map((all) => all.map(({ shows, ms }) => ({ shows, ms: ms * CHUNK_MS })));

const aCase: fc.Arbitrary<Case> = fc.record({
  profile: fc.constantFrom('openai' as const, 'anthropic' as const),
  reasons: fc.constant(true),
  stream: fc.boolean(),
  pace: fc.constantFrom(40, 100, 200, 400),
  phases,
  end: fc.oneof(
    fc.record({ kind: fc.constant('leaves' as const), atMs: fc.integer({ min: 500, max: 60_000 }) }),
    fc.record({ kind: fc.constant('stops' as const), atMs: fc.integer({ min: 500, max: 60_000 }) }),
    fc.constant({ kind: 'stays' as const }),
  ),
  maxTokens: fc.constant(100_000),
});

test('law: no way to end an answer moves its price by more than a quarter', async () => {
  await fc.assert(
    fc.asyncProperty(aCase, async (which) => {
      const { record, made, prompt, counted } = await play(which);
      const read = Math.max(which.pace, CHUNK_MS) / 4;
      const charged = Number(record.charged / TOKEN);
      const least = Math.min(prompt, counted);
      const most = Math.max(prompt, counted);
      expect(charged).toBeLessThanOrEqual(most + 1.25 * made + read);
      expect(charged).toBeGreaterThanOrEqual(least + 0.75 * made - read);
      if (record.details.estimate === undefined) return;
      const { outputTokens, inputTokens = record.inputTokens } = recompute(record.details.estimate);
      expect([inputTokens, outputTokens]).toEqual([record.inputTokens, record.outputTokens]);
    }),
    { numRuns: 100 },
  );
}, 120_000);
