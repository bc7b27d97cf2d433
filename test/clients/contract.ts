// What every published client library must be able to do with the gateway, as tests over a list of
// libraries. Each library family calls this and adds what only that family has.

import { describe, expect, test } from 'bun:test';
import { ERRORS, type ErrorCode } from '../../src/core/error.ts';
import { REASONING } from '../support/behaviours.ts';
import { type Caller, generate, generateStream, openStream } from '../support/client.ts';
import { explain } from '../support/explain.ts';
import { waitUntil } from '../support/upstream.ts';
import {
  ANSWERS,
  type Connection,
  type Failure,
  type Library,
  type Reading,
  type Round,
  readingOf,
  SLOW_ANSWERS,
  shown,
  type View,
  type Way,
} from './library.ts';
import { type ClientRig, CROWD, type RestrictedAccount, recordFetch } from './rig.ts';

type Refusal = {
  readonly code: ErrorCode;
  /** The caller; by default, the account without limits. */
  readonly account?: RestrictedAccount;
  readonly model?: string;
  /** Merged into the body. */
  readonly more?: Readonly<Record<string, unknown>>;
};

const REFUSALS: readonly Refusal[] = [
  { code: 'invalid_request', more: { temperature: 7 } },
  { code: 'context_length_exceeded', account: 'brief' },
  { code: 'context_length_exceeded', model: 'context-400' },
  { code: 'invalid_api_key', account: 'unknown' },
  { code: 'insufficient_balance', account: 'poor' },
  { code: 'email_not_verified', account: 'unverified' },
  { code: 'model_not_in_plan', account: 'narrow' },
  { code: 'model_not_found', model: 'no-such-model' },
  { code: 'payload_too_large', more: { padding: 'x'.repeat(2_097_152) } },
  { code: 'rate_limit_exceeded', account: 'once' },
  { code: 'daily_limit_exceeded', account: 'capped' },
  { code: 'provider_unavailable', model: 'status-503' },
];

/** Registers the tests of all libraries of a family. */
export function testLibraries(libraries: readonly Library[], rig: () => ClientRig): void {
  const byName = libraries.map((library) => [library.name, library] as const);
  describe.each(byName)('%s', (_name, library) => {
    testAnswers(library, rig);
    testErrors(library, rig);
    testRounds(library, rig);
  });
  testSilence(libraries, rig);
  testRetries(libraries, rig);
  testLeaving(libraries, rig);
}

function testAnswers(library: Library, rig: () => ClientRig): void {
  for (const way of library.ways) {
    const answers = ANSWERS.filter(({ onlyStreamed }) => way.streamed || !onlyStreamed);
    test.concurrent.each(answers.map((answer) => [answer.model, answer] as const))(
      `${way.name}: %s`,
      async (model, answer) => {
        expect(await way.ask(rig().account, model)).toEqual(readingOf(answer, library, way.view));
      },
    );
  }
  if (library.format !== 'chat') return;
  test.concurrent('cases 63 and 65: without usage, nothing else is lost', async () => {
    const { fetch } = recordFetch({ stream_options: { include_usage: false } });
    for (const way of streamedWays(library)) {
      const expected = ANSWERS.map((answer) => readingWithoutUsage(answer, library, way.view));
      const connection = { ...rig().account, fetch };
      const readings = await Promise.all(ANSWERS.map(({ model }) => way.ask(connection, model)));
      expect(readings).toEqual(expected);
    }
  });
}

function streamedWays(library: Library): readonly Way[] {
  return library.ways.filter(({ streamed }) => streamed);
}

function readingWithoutUsage(
  answer: (typeof ANSWERS)[number],
  library: Library,
  view: View = {},
): Reading {
  const reading = readingOf(answer, library, view);
  const debited = view.debitedWithoutUsage === null ? null : reading.debited;
  return { ...reading, usage: null, debited };
}

function testErrors(library: Library, rig: () => ClientRig): void {
  test.concurrent.each(REFUSALS.map((refusal) => [refusal.code, refusal] as const))(
    'cases 168, 172 and 174: %s',
    async (code, { account, model = 'ok', more = {} }) => {
      const caller = account === undefined ? rig().account : rig().accounts[account];
      const { status, json } = await generate(caller, library.format, model, more);
      const { message } = json['error'] as { readonly message: string };
      // The numbers in it depend on the tools that are offered.
      const [beginning = ''] = message.split(/\d/);
      for (const way of library.ways) {
        const { fetch } = recordFetch(more);
        expect(await failureOf(library, way, { ...caller, fetch }, model)).toEqual({
          name: String(library.errors[code] ?? library.errors[status]),
          status: ERRORS[code].status,
          code,
          message: expect.stringContaining(beginning),
          requestId: expect.stringMatching(/^req_/),
        });
      }
    },
  );

  test.concurrent.each(['cut', 'cut-connection', 'error-in-stream'])(
    'cases 155, 157 and 177: %s after content is an error and not a short answer',
    async (model) => {
      const failures = await Promise.all(
        library.ways.map(async (way) => {
          const { message, code } = await failureOf(library, way, rig().account, model);
          return { message, code };
        }),
      );
      expect(failures).toEqual(
        library.ways.map(({ streamed, view }) => ({
          message: expect.stringContaining(
            streamed ? 'stopped before its answer was complete' : 'not available at the moment',
          ),
          code: streamed && view?.streamErrorCode === null ? null : 'provider_unavailable',
        })),
      );
    },
  );
}

async function failureOf(
  library: Library,
  way: Way,
  connection: Connection,
  model: string,
): Promise<Failure> {
  const answer = await way.ask(connection, model).then(
    (reading) => ({ reading }),
    (error: unknown) => ({ error }),
  );
  if ('error' in answer) return library.failure(answer.error);
  throw new Error(`${way.name} took this for an answer: ${JSON.stringify(answer.reading)}`);
}

function testRounds(library: Library, rig: () => ClientRig): void {
  test.each(library.rounds.map((round) => [round.name, round] as const))(
    'cases 186 and 187: a whole tool round: %s',
    async (_name, { run, replays, requests = 2 }) => {
      const { account, upstream } = rig();
      const recording = recordFetch();
      const inputs: unknown[] = [];
      const text = await run({ ...account, fetch: recording.fetch }, (input) => {
        inputs.push(input);
        return 'sunny';
      });
      expect({ text, inputs }).toEqual({ text: 'It is sunny.', inputs: [{ city: 'Paris' }] });
      expect(recording.bodies.length).toBe(requests);
      expect(replayedThinking(recording.bodies.at(-1))).toBe(replays);
      const asked = (upstream.requests.at(-1)?.body['messages'] ?? []) as readonly object[];
      const [, assistant, result, ...more] = asked;
      const call = {
        id: 'call_1',
        function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
      };
      expect(assistant).toMatchObject({ role: 'assistant', tool_calls: [call] });
      if (replays === 'all') expect(assistant).toMatchObject({ reasoning_content: REASONING });
      expect(result).toEqual({ role: 'tool', tool_call_id: 'call_1', content: 'sunny' });
      expect(more).toEqual([]);
    },
  );
}

/** What of the upstream's thinking a request holds, in any field. */
function replayedThinking(body: unknown): Round['replays'] {
  const text = JSON.stringify(body);
  const kinds = ['all', 'last piece'] as const;
  return kinds.find((kind) => text.includes(`"${shown(REASONING, kind)}"`)) ?? 'none';
}

/** All at once, because what is tested is waiting. */
function testSilence(libraries: readonly Library[], rig: () => ClientRig): void {
  test.concurrent.each(SLOW_ANSWERS.map((answer) => [answer.model, answer] as const))(
    'cases 69 and 154: heartbeats of a silent upstream harm no client: %s',
    async (model, answer) => {
      const ways = libraries.flatMap((library) =>
        streamedWays(library).map((way) => ({ library, way })),
      );
      const [heartbeats, ...readings] = await Promise.all([
        countHeartbeats(rig().beating, model),
        ...ways.map(({ way }) => way.ask(rig().beating, model)),
      ]);
      const expected = ways.map(({ library, way }) => readingOf(answer, library, way.view));
      expect(readings).toEqual(expected);
      expect(heartbeats).toBeGreaterThanOrEqual(2);
    },
  );
}

/** Chunks without anything in them, as the chat format sends while the upstream is silent. */
async function countHeartbeats(caller: Caller, model: string): Promise<number> {
  const { events } = await generateStream(caller, 'chat', model);
  return events.filter(({ data }) =>
    data.includes('"delta":{},"logprobs":null,"finish_reason":null'),
  ).length;
}

function testRetries(libraries: readonly Library[], rig: () => ClientRig): void {
  const whole = libraries.map((library) => {
    const way = library.ways.find(({ streamed }) => !streamed);
    if (way === undefined) throw new Error(`${library.name} reads no whole answer`);
    return { library, way };
  });

  test.concurrent('case 171: a busy account is asked again after two seconds', async () => {
    const { crowd } = rig().accounts;
    const abort = new AbortController();
    const open = () => openStream(crowd, 'chat', 'stall', {}, abort.signal);
    await Promise.all(Array.from({ length: CROWD }, open));
    const recordings = whole.map(() => recordFetch());
    const beganMs = performance.now();
    const answers = whole.map(async ({ way }, index) => {
      const fetch = recordings[index]?.fetch ?? globalThis.fetch;
      const { text } = await way.ask({ ...crowd, maxRetries: 2, fetch }, 'ok');
      return { text, waited: performance.now() - beganMs > 1_900 };
    });
    await waitUntil(() => recordings.every(({ statuses }) => statuses.length === 1));
    abort.abort();
    expect(await Promise.all(answers)).toEqual(
      whole.map(() => ({ text: 'Hello from upstream.', waited: true })),
    );
    expect(recordings.map(({ statuses }) => statuses)).toEqual(whole.map(() => [429, 200]));
  }, 20_000);

  test.concurrent('case 176: an upstream that was unavailable is asked again', async () => {
    rig().failNext(whole.length);
    const asked = whole.map(async ({ way }) => {
      const { statuses, fetch } = recordFetch();
      await way.ask({ ...rig().account, maxRetries: 1, fetch }, 'recovers');
      return statuses;
    });
    expect(await Promise.all(asked)).toEqual(whole.map(() => [503, 200]));
  }, 20_000);

  test.concurrent.each([
    ['case 175: not where the balance is too low', 'poor', 402],
    ['not where the key is wrong', 'unknown', 401],
    ['case 170: not for hours', 'capped', 429],
  ] as const)(
    'a client asks again, %s',
    async (_name, account, status) => {
      const asked = whole.map(async ({ library, way }) => {
        const { statuses, fetch } = recordFetch();
        const connection = { ...rig().accounts[account], maxRetries: 1, fetch };
        await failureOf(library, way, connection, 'ok');
        return statuses;
      });
      expect(await Promise.all(asked)).toEqual(
        whole.map(({ library: { asksAgainWhenTold = 1 } }) =>
          Array(status === 429 ? asksAgainWhenTold : 1).fill(status),
        ),
      );
    },
    20_000,
  );
}

function testLeaving(libraries: readonly Library[], rig: () => ClientRig): void {
  const ways = libraries.flatMap((library) =>
    streamedWays(library).map((way) => [`${library.name}, ${way.name}`, way] as const),
  );
  test.each(ways)('case 70: a client that leaves frees its slot: %s', async (_name, way) => {
    const { gateway, upstream, accounts } = rig();
    const abortedBefore = upstream.aborted();
    const abort = new AbortController();
    const { fetch, requestIds } = recordFetch();
    const connection = { ...accounts.single, fetch, signal: abort.signal };
    // Some throw then, some end without a reason; none may say that the answer is complete.
    const finish = way.ask(connection, 'slow-tokens-500-10').then(
      (reading) => reading.finish,
      () => '',
    );
    await waitUntil(() => requestIds.length === 1);
    abort.abort();
    expect(await finish).toBe('');
    await upstream.waitFor(() => upstream.aborted() === abortedBefore + 1);
    const story = await explain(gateway, requestIds[0] ?? null);
    expect(story.request?.['outcome']).toBe('client_cancelled');
    expect(story.usage?.['output_tokens']).toBeWithin(1, 500);
    expect((await generate(accounts.single, 'chat', 'ok')).status).toBe(200);
  });
}
