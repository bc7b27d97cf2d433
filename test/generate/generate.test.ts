// A whole request over a real ledger and real limits, with a clock and attempts that the test
// controls: timings that no test from outside can provoke.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { GatewayError } from '../../src/core/error.ts';
import type { GenerationEvent, Usage } from '../../src/core/generation.ts';
import type { Model } from '../../src/core/model.ts';
import { formatTokens, micro } from '../../src/core/money.ts';
import type { Price } from '../../src/core/price.ts';
import { SINCE_EVER } from '../../src/core/price-book.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { generate } from '../../src/generate/generate.ts';
import type { GenerateDependencies, GenerationCall } from '../../src/generate/pipeline-types.ts';
import { HoldRevoked, LedgerSilent, LedgerUnavailable } from '../../src/ledger/error.ts';
import { openBefore } from '../../src/ledger/recover.ts';
import type { Batch } from '../../src/upstream/attempt.ts';
import { temporaryDirectory } from '../support/database.ts';
import { closeBooks, holdOf, NOW, type OpenBooks, openBooks } from '../support/ledger.ts';
import { chatUpstream } from '../support/model.ts';
import { flatPrice } from '../support/price.ts';
import { serviceState } from '../support/service-state.ts';
import { candidate, type ListedAttempt, listedAttempt } from './fixtures.ts';
import { catalogWith, openPipeline, planWith, reads, TOKEN } from './rig.ts';

const directory = temporaryDirectory();
const CHANGE = NOW + 1_000;

/** An input token costs one service token before the change, and a hundred from then on. */
function priceOf(slug: string, tokens: bigint): Price {
  const amount = tokens * 10n ** 12n;
  const version = `${slug}@${tokens}`;
  return flatPrice(version, amount);
}

function modelOf(slug: string, tokens: bigint, fallbacks: readonly string[]): Model {
  return {
    ...candidate(slug).model,
    maxOutput: 900,
    fallbacks,
    prices: [
      { validFromMs: SINCE_EVER, price: priceOf(slug, tokens), windows: [] },
      { validFromMs: CHANGE, price: priceOf(slug, tokens * 100n), windows: [] },
    ],
  };
}

const MODELS = [modelOf('first', 3n, ['second']), modelOf('second', 2n, [])];

const PLAN = planWith({});
const CATALOG = catalogWith(PLAN, MODELS);

const BILLS_TO_THE_END = { ...chatUpstream('bills-on'), cancelStopsBilling: false };

const USAGE: Usage = { ...NO_USAGE, inputTokens: 10, outputTokens: 5, basis: 'reported' };

const ANSWER: readonly GenerationEvent[] = [
  { kind: 'text-delta', text: 'Hello' },
  { kind: 'usage', usage: USAGE },
  { kind: 'finish', reason: 'stop' },
];

let open: OpenBooks;
let nowMs = NOW;

beforeAll(async () => {
  open = await openBooks(directory);
});

afterAll(() => closeBooks(open));

/** A gateway whose upstreams give the same answer. */
async function rig(accountId: string, changes: Partial<GenerateDependencies> = {}) {
  nowMs = NOW;
  const pipeline = await openPipeline(open, CATALOG, accountId, {
    clock: () => nowMs,
    startAttempt: (options) => listedAttempt(options.candidate, [finished(ANSWER)]),
    ...changes,
  });
  return {
    ...pipeline,
    call: (requestId: string, more: Partial<GenerationCall> = {}) =>
      pipeline.call(requestId, { readBody: async () => BODY, ...more }),
    used: () => pipeline.limits.usage(accountId, PLAN),
  };
}

const REQUEST = {
  model: 'first',
  max_tokens: 20,
  messages: [{ role: 'user', content: 'Hi' }],
};
const BODY = { value: REQUEST, text: JSON.stringify(REQUEST) };

const STREAMED = { ...REQUEST, max_tokens: 900, stream: true };
const streamed = reads(STREAMED);

/** As the leader of a cluster ends a hold of a node that it holds for dead. */
async function recoverFromOutside(requestId: string) {
  const createdBefore = Number.MAX_SAFE_INTEGER;
  const held = (await openBefore(open.database, createdBefore)).map((hold) => hold.requestId);
  return open.ledger.recover({
    ...{ live: held.filter((id) => id !== requestId), createdBefore },
    ...{ phase: 'ended', usdPerMillion: CATALOG.usdPerMillion, nowMs: NOW },
  });
}

function finished(events: readonly GenerationEvent[]): Batch {
  return { events, end: 'finished' };
}

const UNUSED = { requestsUsed: 0, tokensUsed: 0, inFlight: 0, dayTokens: 0, monthTokens: 0 };

describe('a request costs the prices of the moment when it started', () => {
  test('however late its body comes, and its answer', async () => {
    const { dependencies, call } = await rig('late', {
      startAttempt(options) {
        nowMs = CHANGE + 5_000;
        return listedAttempt(options.candidate, [finished(ANSWER)]);
      },
    });
    const readBody = async () => {
      nowMs = CHANGE + 1_000;
      return BODY;
    };
    const generated = await generate(dependencies, call('late-1', { readBody }));
    expect(generated).toMatchObject({ receipt: { tokensDebited: '45' } });
    expect((await open.books.explain('late-1'))?.record).toMatchObject({
      priceVersionRequested: 'first@3',
      priceVersionServed: 'first@3',
      debited: 45n * TOKEN,
    });
  });

  test('also at a fallback that is asked after they have changed', async () => {
    const { dependencies, call } = await rig('fallback', {
      // The wall clock alone is moved: no deadline of the request is over.
      monotonic: () => NOW,
      startAttempt(options) {
        nowMs = CHANGE + 5_000;
        const broken: Batch = { events: [], end: { class: 'overloaded', detail: 'busy' } };
        const serves = options.candidate.model.slug === 'second';
        return listedAttempt(options.candidate, [serves ? finished(ANSWER) : broken]);
      },
    });
    const generated = await generate(dependencies, call('fallback-1'));
    expect(generated).toMatchObject({ modelServed: 'second', receipt: { tokensDebited: '30' } });
    expect((await open.books.explain('fallback-1'))?.record).toMatchObject({
      priceVersionRequested: 'first@3',
      priceVersionServed: 'second@2',
    });
  });
});

describe('a request that is refused for its money holds nothing', () => {
  test('where the ledger cannot say whether it took the hold', async () => {
    const { dependencies, call, used } = await rig('unconfirmed', {
      ledger: {
        ...open.ledger,
        async hold(command) {
          await open.ledger.hold(command);
          throw new LedgerSilent('The ledger said nothing.');
        },
      },
    });
    const error = await generate(dependencies, call('unconfirmed-1')).catch((cause) => cause);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error.code).toBe('provider_unavailable');
    expect(await used()).toMatchObject(UNUSED);
    // The ledger executes this after all earlier commands.
    await open.ledger.extend({ requestId: 'unconfirmed-1', amount: micro(0n) }).catch(() => {});
    expect((await open.books.explain('unconfirmed-1'))?.hold).toMatchObject({ phase: 'released' });
    expect(await open.books.balance('unconfirmed')).toMatchObject({
      held: micro(0n),
      posted: 10_000n * TOKEN,
    });
  });

  test('where the ledger took nothing, which then has nothing to give back', async () => {
    const released: string[] = [];
    const { dependencies, call, used } = await rig('untaken', {
      ledger: {
        ...open.ledger,
        hold: () => Promise.reject(new LedgerUnavailable('The ledger could not be written.')),
        release(command) {
          released.push(command.requestId);
          return open.ledger.release(command);
        },
      },
    });
    const error = await generate(dependencies, call('untaken-1')).catch((cause) => cause);
    expect(error).toMatchObject({ code: 'provider_unavailable' });
    expect(await used()).toMatchObject(UNUSED);
    expect(released).toEqual([]);
  });

  test('where the balance does not cover it', async () => {
    const { dependencies, call, used } = await rig('spent');
    // Not refused before its prompt is counted: the whole balance is above the minimum.
    const held = 9_990n * TOKEN;
    await open.ledger.hold(holdOf('spent-1', 'spent', held));
    const error = await generate(dependencies, call('spent-2')).catch((cause) => cause);
    expect(error.code).toBe('insufficient_balance');
    expect(await used()).toMatchObject({ ...UNUSED, requestsUsed: 1 });
    expect(await open.books.balance('spent')).toMatchObject({ held });
  });

  test('where the balance is below the minimum of every request', async () => {
    const { dependencies, call, used } = await rig('poor');
    const state = serviceState({ ...CATALOG, minimumHold: micro(20_000n * TOKEN) });
    const poor = call('poor-1', { serviceState: state });
    const error = await generate(dependencies, poor).catch((cause) => cause);
    expect(error.code).toBe('insufficient_balance');
    expect(await used()).toMatchObject({ ...UNUSED, requestsUsed: 1 });
    expect(await open.books.balance('poor')).toMatchObject({ held: micro(0n) });
  });
});

describe('a request that is refused', () => {
  test('for its body uses a request of the minute, also if its body takes too long', async () => {
    const { dependencies, call, used } = await rig('slow-body');
    const late = new GatewayError('invalid_request', {
      message: 'The request body did not arrive.',
    });
    const readBody = () => Promise.reject(late);
    await expect(generate(dependencies, call('slow-body-1', { readBody }))).rejects.toBe(late);
    expect(await used()).toMatchObject({ ...UNUSED, requestsUsed: 1 });
  });

  test('by a limit uses one after as many in a minute as the plan has, until its window ends', async () => {
    const { dependencies, call, used } = await rig('over-limit');
    const plan = { ...PLAN, requestsPerMinute: 4, tokensPerMinute: 40 };
    const state = serviceState({ ...CATALOG, plans: new Map([['test', plan]]) });
    let bodies = 0;
    const readBody = async () => {
      bodies += 1;
      return BODY;
    };
    const ask = (id: number) =>
      generate(dependencies, call(`over-limit-${id}`, { serviceState: state, readBody })).then(
        () => 'served',
        ({ code }) => code,
      );
    expect(await ask(0)).toBe('served');
    const codes: string[] = [];
    while (codes.at(-1) !== 'rate_limit_exceeded') codes.push(await ask(codes.length + 1));
    // Five are free, because the fifth overdraws the budget of four; then three fill the window.
    expect(codes).toEqual([
      ...new Array<string>(8).fill('tokens_per_minute_exceeded'),
      'rate_limit_exceeded',
    ]);
    expect(await used()).toMatchObject({ requestsUsed: 4 });
    // The last one was refused before its body.
    expect(bodies).toBe(9);
    nowMs += 60_000;
    expect(await ask(codes.length + 1)).toBe('served');
  });

  test('for the bound of all open requests counts as one that is refused by a limit', async () => {
    const { dependencies, call, used } = await rig('uncovered', {
      ledger: {
        ...open.ledger,
        hold: async () => ({
          ...{ ok: false, available: micro(10_000n * TOKEN) },
          uncovered: { room: micro(0n), openHolds: 1 },
          written: { isDone: () => true, wait: async () => undefined },
        }),
      },
    });
    const codes: string[] = [];
    while (codes.at(-1) !== 'rate_limit_exceeded') {
      const asked = call(`uncovered-${codes.length}`);
      codes.push(await generate(dependencies, asked).catch(({ code }) => code));
    }
    expect(new Set(codes)).toEqual(new Set(['concurrency_limit_exceeded', 'rate_limit_exceeded']));
    expect(codes).toHaveLength(2 * PLAN.requestsPerMinute + 2);
    expect(await used()).toMatchObject({ requestsUsed: PLAN.requestsPerMinute, inFlight: 0 });
  });
});

describe('a bill that cannot be booked for a while', () => {
  /** Settles only once it is let to. */
  function slowLedger() {
    const { promise: mended, resolve: mend } = Promise.withResolvers<void>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const settle: GenerateDependencies['ledger']['settle'] = async (command) => {
      ask();
      await mended;
      return open.ledger.settle(command);
    };
    return { ledger: { ...open.ledger, settle }, asked, mend };
  }

  test('is reported as it will be booked by a server with a local ledger', async () => {
    const settle = () => Promise.reject(new LedgerSilent('The disk has not answered.'));
    const ledger = { ...open.ledger, settle };
    const { dependencies, call } = await rig('alone', { ledger, booking: 'bounded' });
    const generated = await generate(dependencies, call('alone-1'));
    expect(generated).toMatchObject({ receipt: { tokensDebited: '45' } });
  });

  test('is waited for where other nodes may end its hold', async () => {
    const { ledger, asked, mend } = slowLedger();
    const { dependencies, call } = await rig('node', { ledger, booking: 'awaited' });
    const generated = await generate(dependencies, call('node-1', { readBody: streamed }));
    if (generated.kind !== 'stream') throw new Error('not a stream');
    const text = new Response(generated.body).text();
    await asked;
    // Another node ends the hold: it knows what the first checkpoint says.
    const [recovered] = await recoverFromOutside('node-1');
    mend();
    expect(recovered?.debited).toBeGreaterThan(0n);
    const debited = formatTokens(recovered?.debited ?? micro(-1n));
    expect(await text).toContain(`"svc_tokens_debited":"${debited}"`);
  });

  test('and a whole answer that was not charged is not delivered', async () => {
    const { ledger, asked, mend } = slowLedger();
    const { dependencies, call } = await rig('unpaid', { ledger, booking: 'awaited' });
    const generated = generate(dependencies, call('unpaid-1'));
    await asked;
    const [recovered] = await recoverFromOutside('unpaid-1');
    mend();
    expect(recovered).toMatchObject({ requestId: 'unpaid-1', debited: micro(0n) });
    await expect(generated).rejects.toMatchObject({ code: 'provider_unavailable' });
  });
});

test.each(['stream', 'whole'] as const)(
  'nothing of a %s answer is sent where the node was declared dead before it was booked',
  async (kind) => {
    const id = `late-${kind}`;
    // The node is cut off from the books: others end its hold before it reaches them again.
    const { dependencies, call } = await rig(id, {
      booking: 'awaited',
      startAttempt({ candidate: of }) {
        const attempt = listedAttempt(of, [finished(ANSWER)]);
        return { ...attempt, next: () => recoverFromOutside(id).then(() => attempt.next()) };
      },
    });
    const readBody = kind === 'stream' ? streamed : async () => BODY;
    const answered = generate(dependencies, call(id, { readBody }));
    await expect(answered).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(await open.books.explain(id)).toMatchObject({ record: { debited: micro(0n) } });
  },
);

test('a failure says what it has cost where another node had ended the request', async () => {
  const { dependencies, call } = await rig('cut-off', {
    booking: 'awaited',
    ledger: {
      ...open.ledger,
      // It is written, and its node does not learn that before others end the hold.
      async checkpoint(command) {
        await open.ledger.checkpoint(command);
        await recoverFromOutside('cut-off-1');
        throw new LedgerSilent('The ledger said nothing.');
      },
    },
  });
  const failed = generate(dependencies, call('cut-off-1', { readBody: streamed }));
  await expect(failed).rejects.toMatchObject({ code: 'provider_unavailable' });
  const debited = (await open.books.explain('cut-off-1'))?.record?.debited ?? 0n;
  expect(debited).toBeGreaterThan(0n);
  await expect(failed).rejects.toThrow(
    `${formatTokens(micro(debited))} service tokens were charged`,
  );
});

test('an error of our own behind a whole answer gives back its slot and its hold', async () => {
  const broken: GenerationEvent = {
    kind: 'finish',
    reason: 'stop',
    get thinking(): never {
      throw new Error('ours');
    },
  };
  const { dependencies, call, used } = await rig('ours', {
    startAttempt: ({ candidate: of }) =>
      listedAttempt(of, [finished([...ANSWER.slice(0, 2), broken])]),
  });
  await expect(generate(dependencies, call('ours-1'))).rejects.toThrow('ours');
  expect(await used()).toMatchObject({ inFlight: 0 });
  const record = { outcome: 'gateway_failed', debited: micro(0n) };
  expect(await open.books.explain('ours-1')).toMatchObject({ hold: { phase: 'released' }, record });
  expect(await open.books.balance('ours')).toMatchObject({
    held: micro(0n),
    posted: 10_000n * TOKEN,
  });
});

test('the ledger gets checkpoints from the first content of a stream on, and of no other answer', async () => {
  const heard: string[] = [];
  const { dependencies, call } = await rig('heard', {
    ledger: {
      ...open.ledger,
      checkpoint(command) {
        heard.push(`${command.outputTokens} of ${command.served.model} have passed`);
        return open.ledger.checkpoint(command);
      },
    },
    startAttempt({ candidate: asked }) {
      heard.push(`${asked.model.slug} begins`);
      const text: Batch = { events: [{ kind: 'text-delta', text: 'x'.repeat(400) }] };
      const broken: Batch = { events: [], end: { class: 'overloaded', detail: 'busy' } };
      const serves = asked.model.slug === 'second';
      return listedAttempt(asked, serves ? [text, text, finished(ANSWER)] : [broken]);
    },
  });
  const value = { ...STREAMED, stream: false };
  const readBody = async () => ({ value, text: JSON.stringify(value) });
  await generate(dependencies, call('heard-1', { readBody }));
  expect(heard.splice(0)).toEqual(['first begins', 'second begins']);
  const generated = await generate(dependencies, call('heard-2', { readBody: streamed }));
  if (generated.kind !== 'stream') throw new Error('not a stream');
  await new Response(generated.body).text();
  expect(heard).toEqual([
    'first begins',
    'second begins',
    '400 of second have passed',
    '800 of second have passed',
  ]);
});

/** A hold that is decided at once and on disk when the test says so; its upstream counts aborts. */
async function holding(account: string, booking?: 'awaited') {
  let written = Promise.withResolvers<void>();
  written.promise.catch(() => undefined);
  let isDone = false;
  const asked: ListedAttempt[] = [];
  const made = await rig(account, {
    ...(booking && { booking }),
    ledger: {
      ...open.ledger,
      async hold(command) {
        const placed = await open.ledger.hold(command);
        const { promise } = written;
        return { ...placed, written: { isDone: () => isDone, wait: () => promise } };
      },
    },
    startAttempt(options) {
      const attempt = listedAttempt(options.candidate, [finished(ANSWER)]);
      asked.push(attempt);
      return attempt;
    },
  });
  const write = (): void => {
    isDone = true;
    written.resolve();
  };
  const lose = (error: Error): void => {
    const lost = written;
    written = Promise.withResolvers();
    written.promise.catch(() => undefined);
    lost.reject(error);
  };
  return { ...made, asked, write, lose };
}

describe.each([
  ['a whole answer', async () => BODY],
  ['a stream', streamed],
])('%s', (name, readBody) => {
  const account = name.replace(/\W/g, '-');

  test('waits for its hold to be on disk, and its upstream does not', async () => {
    const { dependencies, call, asked, write } = await holding(`${account}-waits`);
    let isAnswered = false;
    const answering = generate(dependencies, call(`${account}-waits`, { readBody })).then((got) => {
      isAnswered = true;
      return got;
    });
    while (asked.length === 0) await Bun.sleep(1);
    await Bun.sleep(5);
    expect(isAnswered).toBe(false);
    write();
    const answer = await answering;
    const text = answer.kind === 'stream' ? await new Response(answer.body).text() : answer;
    expect(JSON.stringify(text)).toContain('Hello');
  });

  test('is refused where its hold never gets there, and has used nothing', async () => {
    const { dependencies, call, asked, used, lose } = await holding(`${account}-lost`);
    const answering = generate(dependencies, call(`${account}-lost`, { readBody }));
    while (asked.length === 0) await Bun.sleep(1);
    lose(new LedgerSilent('The disk has not answered.'));
    const error = await answering.catch((cause) => cause);
    expect(error).toMatchObject({ code: 'provider_unavailable', status: 503 });
    expect(asked.map((attempt) => attempt.aborts() > 0)).toEqual([true]);
    expect(await used()).toMatchObject(UNUSED);
    // It may have been written all the same, so it is given back.
    await open.ledger.extend({ requestId: `${account}-lost`, amount: micro(0n) }).catch(() => {});
    expect(await open.books.balance(`${account}-lost`)).toMatchObject({
      held: micro(0n),
      posted: 10_000n * TOKEN,
    });
  });
});

describe('a hold whose money another node has spent since', () => {
  /** Of 10,000: the request fits into the rest, and its worst case does not fit twice. */
  const SCARCE = 9_600n * TOKEN;
  const SPENT = { ok: false, available: micro(0n) } as const;

  test('is refused like any other, and the next one waits for its commit', async () => {
    const { dependencies, call, asked, used, lose, write } = await holding('revoked', 'awaited');
    const answering = generate(dependencies, call('revoked-1'));
    while (asked.length === 0) await Bun.sleep(1);
    lose(new HoldRevoked(SPENT));
    const error = await answering.catch((cause) => cause);
    expect(error).toMatchObject({ code: 'insufficient_balance', status: 402 });
    expect(error.message).toStartWith('The available balance is 0 service tokens');
    expect(asked.map((attempt) => attempt.aborts() > 0)).toEqual([true]);
    expect(await used()).toMatchObject({ ...UNUSED, requestsUsed: 1 });

    const next = generate(dependencies, call('revoked-2'));
    await Bun.sleep(20);
    expect(asked.length).toBe(1);
    write();
    expect(await next).toMatchObject({ kind: 'whole' });
  });

  test('is given back where only the rest beside it is spent', async () => {
    const { dependencies, call, asked, used, lose } = await holding('less', 'awaited');
    const answering = generate(dependencies, call('less-1'));
    while (asked.length === 0) await Bun.sleep(1);
    lose(new HoldRevoked({ ok: true, available: micro(5n) }));
    await expect(answering).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
    expect(await used()).toMatchObject({ ...UNUSED, requestsUsed: 1 });
    await open.ledger.extend({ requestId: 'less-1', amount: micro(0n) }).catch(() => {});
    expect(await open.books.balance('less')).toMatchObject({ held: micro(0n) });
  });

  test('is not billed, although its client has left', async () => {
    const client = new AbortController();
    const { dependencies, call, asked, used, lose } = await holding('revoked-left');
    const answering = generate(dependencies, call('left-1', { signal: client.signal }));
    while (asked.length === 0) await Bun.sleep(1);
    client.abort();
    await Bun.sleep(5);
    lose(new HoldRevoked(SPENT));
    expect(await answering).toEqual({ kind: 'cancelled' });
    // The double has held the money, and would book an end of it.
    expect((await open.books.explain('left-1'))?.record).toBeUndefined();
    expect(await used()).toMatchObject({ ...UNUSED, requestsUsed: 1 });
  });

  test('calls no upstream where little is left beside it', async () => {
    const { dependencies, call, asked, write } = await holding('scarce', 'awaited');
    await open.ledger.hold(holdOf('scarce-0', 'scarce', SCARCE));
    dependencies.learned.overran('scarce');
    const answering = generate(dependencies, call('scarce-1'));
    await Bun.sleep(20);
    expect(asked.length).toBe(0);
    write();
    expect(await answering).toMatchObject({ kind: 'whole' });
  });
});

describe('a client that leaves', () => {
  test('before its answer began pays for the prompt alone, and has its slot back', async () => {
    const client = new AbortController();
    const { dependencies, call, used, inFlight } = await rig('gone', {
      startAttempt(options) {
        setImmediate(() => client.abort());
        return listedAttempt(options.candidate, []);
      },
    });
    const generated = await generate(dependencies, call('gone-1', { signal: client.signal }));
    expect(generated).toEqual({ kind: 'cancelled' });
    const story = await open.books.explain('gone-1');
    const prompt = story?.hold.promptTokens ?? 0;
    expect(await used()).toMatchObject({ inFlight: 0, dayTokens: prompt });
    expect(inFlight.count()).toBe(0);
    const debited = BigInt(prompt) * 3n * TOKEN;
    expect(debited).toBeGreaterThan(0n);
    expect(await open.books.balance('gone')).toMatchObject({
      held: micro(0n),
      posted: 10_000n * TOKEN - debited,
    });
    expect(story?.record).toMatchObject({ outcome: 'client_cancelled', debited, outputTokens: 0 });
  });

  test('an upstream that bills to the end pays its report, as if it had stayed', async () => {
    const client = new AbortController();
    const { dependencies, call } = await rig('drained', {
      startAttempt({ candidate: asked }) {
        const upstream = { ...BILLS_TO_THE_END, id: asked.upstream.id };
        const usage: Usage = { ...USAGE, inputTokens: 500 };
        const events = ANSWER.map((event) =>
          event.kind === 'usage' ? { ...event, usage } : event,
        );
        const attempt = listedAttempt({ ...asked, upstream }, [finished(events)]);
        return {
          ...attempt,
          next() {
            client.abort();
            return attempt.next();
          },
        };
      },
    });
    await generate(dependencies, call('drained-1', { signal: client.signal }));
    const story = await open.books.explain('drained-1');
    const debited = 3n * 505n * TOKEN;
    expect(story?.hold.amount).toBeLessThan(debited);
    expect(story?.record).toMatchObject({
      outcome: 'client_cancelled',
      usageBasis: 'reported',
      charged: debited,
      debited,
      loss: micro(0n),
    });
    expect(await open.books.balance('drained')).toMatchObject({
      posted: 10_000n * TOKEN - debited,
    });
  });
});
