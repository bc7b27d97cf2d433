// Law: no way to end an answer costs its customer more than a quarter beyond what was made until then
// and one read, nor its operator more than a quarter of it. Over the real pipeline and a real ledger,
// with an upstream that works at a known pace in virtual time, hidden or shown.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { BUILT_IN_PROFILES } from '../../src/core/built-in-profiles.ts';
import { createDeadlines } from '../../src/core/deadlines.ts';
import type { Catalog, Model, Upstream } from '../../src/core/model.ts';
import { say } from '../../src/core/sentence.ts';
import { recompute } from '../../src/core/unseen.ts';
import { generate } from '../../src/generate/generate.ts';
import { createAttempts } from '../../src/upstream/attempt.ts';
import type { StartTimer } from '../../src/upstream/timer.ts';
import { GIVEN_UP, type UpstreamClient } from '../../src/upstream/transport.ts';
import { temporaryDirectory } from '../support/database.ts';
import { closeBooks, NOW, type OpenBooks, openBooks } from '../support/ledger.ts';
import { chatUpstream, TIMEOUTS } from '../support/model.ts';
import { alwaysAt, flatPrice } from '../support/price.ts';
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
    | { readonly kind: 'broke' }
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

/** The whole answer, whose text is all that the phases show. */
function wholeOf(which: Case): string {
  const { pace, phases } = which;
  const tokens = (all: readonly Phase[]): number =>
    all.reduce((sum, { ms }) => sum + Math.round((ms * pace) / 1_000), 0);
  const made = tokens(phases);
  const shown = tokens(phases.filter(({ shows }) => shows));
  const content = 'x'.repeat(shown);
  if (which.profile === 'anthropic') {
    const usage = { input_tokens: PROMPT_REPORT, output_tokens: made };
    const text = [{ type: 'text', text: content }];
    const head = { id: 'm', type: 'message', role: 'assistant' };
    return JSON.stringify({ ...head, content: text, stop_reason: 'end_turn', usage });
  }
  const details = { completion_tokens_details: { reasoning_tokens: made - shown } };
  const usage = { prompt_tokens: PROMPT_REPORT, completion_tokens: made, ...details };
  const message = { role: 'assistant', content };
  return JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage });
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Virtual time, whose timers fire as it passes. */
function createWorld() {
  let nowMs = 0;
  let working = 0;
  const deadlines = createDeadlines(() => nowMs);
  const startTimer: StartTimer = (afterMs, fire) => deadlines.start(afterMs, fire);
  return {
    now: () => nowMs,
    deadlines,
    startTimer,
    /** Passes time while no upstream does: the pause before another attempt. */
    async passIdle(isDone: () => boolean): Promise<void> {
      for (let idle = 0; !isDone(); idle = working > 0 ? 0 : idle + 1) {
        await turns();
        if (working > 0 || idle < IDLE_TURNS) continue;
        nowMs += 100;
        deadlines.sweep();
      }
    },
    /** Passes time in steps, until then or until `isOver`. */
    async passTo(at: number, isOver: () => boolean): Promise<void> {
      working += 1;
      while (nowMs < at && !isOver()) {
        nowMs = Math.min(at, nowMs + 200);
        deadlines.sweep();
        await turns();
      }
      working -= 1;
    },
  };
}

/** Nothing but time moves a request on that has been idle for so many turns. */
const IDLE_TURNS = 200;

type World = ReturnType<typeof createWorld>;

/** `workedMs` is how long all attempts worked, until each ended or the gateway closed it. */
function upstreamOf(which: Case, world: World, leave: () => void) {
  const seen = { workedMs: 0, calls: 0, mostTokens: 0 };
  const client: UpstreamClient = {
    async send({ body, signal }) {
      seen.calls += 1;
      const begunAt = world.now();
      const frames = [...framesOf(which)];
      const sent = JSON.parse(body) as Readonly<Record<string, unknown>>;
      const streams = sent['stream'] === true;
      seen.mostTokens += Number(sent['max_tokens'] ?? sent['max_completion_tokens']);
      const isOver = () => signal.aborted;
      let hasEnded = false;
      const end = (): void => {
        if (!hasEnded) seen.workedMs += world.now() - begunAt;
        hasEnded = true;
      };
      signal.addEventListener('abort', end);
      const passTo = async (at: number): Promise<void> => {
        const { end: how } = which;
        if (how.kind === 'leaves' && how.atMs <= at) {
          await world.passTo(begunAt + how.atMs, isOver);
          leave();
          await turns();
        }
        await world.passTo(begunAt + at, isOver);
      };
      return {
        status: 200,
        isJson: !streams,
        async text() {
          const last = frames.at(-1)?.at ?? 0;
          await passTo(last);
          if (signal.aborted) return GIVEN_UP;
          end();
          return wholeOf(which);
        },
        reader: () => ({
          async read() {
            const next = frames.shift();
            if (next === undefined) return { done: true };
            await passTo(next.at);
            if (signal.aborted) throw new Error('aborted');
            if (frames.length === 0) end();
            return { done: false, value: Buffer.from(next.text) };
          },
          async cancel() {
            end();
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
        profileChoice: { name, reason: say('a test') },
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
    ...{ startTimer: world.startTimer, startDeadline: world.startTimer },
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
  dependencies.learned.finished('thinker', 'remote', 'another', usage, PROMPT_REPORT, 100_000);
  const readBody = reads({
    model: 'thinker',
    max_tokens: which.maxTokens,
    stream: which.stream,
    ...(which.end.kind === 'stops' && { stop: ['S'] }),
    messages: [{ role: 'user', content: 'x'.repeat(PROMPT_REPORT) }],
  });
  const answer = generate(dependencies, call(requestId, { readBody, signal: client.signal }))
    .then(async (generated) => {
      if (generated.kind === 'stream') {
        const left = new Promise((done) => client.signal.addEventListener('abort', done));
        await Promise.race([new Response(generated.body).text().catch(() => ''), left]);
      }
      return generated.kind;
    })
    .catch((error: unknown) => error);
  let isIdle = false;
  inFlight.idle().then(() => {
    isIdle = true;
  });
  await world.passIdle(() => isIdle);
  const story = await open.books.explain(requestId);
  if (story?.record === undefined) throw new Error('there is no record');
  const { record } = story;
  const made = Math.round((seen.workedMs * which.pace) / 1_000);
  await answer;
  return { record, made, seen, prompt: PROMPT_REPORT, counted: story.hold.promptTokens };
}

const aPhase = fc.record({ shows: fc.boolean(), ms: fc.integer({ min: 10, max: 400 }) });
/** In percent of all of the answer's time. */
const share = fc.integer({ min: 1, max: 120 });

type Drawn = {
  readonly profile: Case['profile'];
  readonly stream: boolean;
  readonly pace: number;
  readonly phases: readonly Phase[];
  readonly kind: Case['end']['kind'];
  readonly share: number;
  readonly isShort: boolean;
};

function caseOf({ profile, stream, pace, phases, kind, share, isShort }: Drawn): Case {
  // A short answer that is not streamed comes in one piece.
  const ms = isShort ? 8 : CHUNK_MS;
  const scaled = phases.map((phase) => ({ ...phase, ms: phase.ms * ms }));
  const all = scaled.reduce((sum, phase) => sum + phase.ms, 0);
  const atMs = Math.max(1, Math.round((all * share) / 100));
  const end = kind === 'stays' || kind === 'broke' ? { kind } : { kind, atMs };
  // The prompt is read, and nothing has come: the timer ends two attempts.
  const silence = [{ shows: false, ms: 100 * atMs }];
  return {
    ...{ profile, reasons: true, stream: stream || kind === 'timer', pace, end },
    phases: kind === 'timer' ? silence : scaled,
    maxTokens: isShort ? 4_000 : 100_000,
  };
}

const aCase: fc.Arbitrary<Case> = fc
  .record({
    profile: fc.constantFrom('openai' as const, 'anthropic' as const),
    stream: fc.boolean(),
    pace: fc.constantFrom(40, 100, 200, 400),
    phases: fc.array(aPhase, { minLength: 1, maxLength: 5 }),
    kind: fc.constantFrom('leaves', 'leaves', 'stops', 'stays', 'broke', 'timer'),
    share,
    isShort: fc.boolean(),
  })
  .map(caseOf);

test('law: no way to end an answer moves its price by more than a quarter', async () => {
  await fc.assert(
    fc.asyncProperty(aCase, async (which) => {
      const { record, made, seen, prompt, counted } = await play(which);
      // What is made in a second, which is how often the balance is asked for unseen work.
      const read = which.end.kind === 'broke' ? which.pace : which.pace / 4;
      const charged = Number(record.charged / TOKEN);
      // Its upstream was sent a lower bound where the balance did not cover the caller's.
      const bounded = Math.min(made, seen.mostTokens);
      expect(charged).toBeLessThanOrEqual(Math.max(prompt, counted) + 1.25 * bounded + read);
      expect(charged).toBeGreaterThanOrEqual(
        Math.min(prompt, counted) + 0.75 * Math.min(bounded, which.maxTokens) - read,
      );
      if (record.details.estimate === undefined) return;
      const { outputTokens, inputTokens = record.inputTokens } = recompute(record.details.estimate);
      expect([inputTokens, outputTokens]).toEqual([record.inputTokens, record.outputTokens]);
    }),
    { numRuns: 100 },
  );
}, 120_000);
