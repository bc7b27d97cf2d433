// The setup of the client tests: the scripted upstream, a gateway with an account for each kind of
// refusal, and a second gateway with a short heartbeat interval.

import { afterAll, beforeAll } from 'bun:test';
import { type Behaviour, behaviourFor, HELLO, play, REASONING } from '../support/behaviours.ts';
import { catalogFor, ROOMY_PLAN } from '../support/catalog.ts';
import { type Caller, generate } from '../support/client.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { USAGE } from '../support/render.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { ANSWERS, type Fetch, SLOW_ANSWERS } from './library.ts';

/** Their answers break off after content. */
const BREAKING = ['cut', 'cut-connection', 'error-in-stream'];

export const MODELS: readonly string[] = [
  ...ANSWERS.map(({ model }) => model),
  ...['tool-round', 'stall', ...BREAKING, 'status-503'],
  ...['context-400', 'slow-tokens-500-10', 'echo', 'recovers'],
];

/**
 * Where all thinking is shown, nothing is to be read after an answer was left. The upstream has a
 * private address, to which image addresses are not passed on otherwise.
 */
const SHOWN = '[profile.chat]\nthinking_shown = "all"\nimage_urls = "any"\n';

/** So many requests of the account `crowd` may run at once. */
export const CROWD = 12;

export type ClientRig = {
  readonly upstream: Upstream;
  readonly gateway: Gateway;
  /** An account that nothing limits. With its `fetch`, no answer breaks off before it has begun. */
  readonly account: TestAccount & { readonly fetch: Fetch };
  /** The same at the gateway that sends a heartbeat every 50 ms. */
  readonly beating: TestAccount;
  readonly accounts: Readonly<Record<RestrictedAccount, Caller>>;
  /** Lets the model `recovers` fail so many times before it answers. */
  readonly failNext: (count: number) => void;
};

export type RestrictedAccount =
  | 'unknown'
  | 'poor'
  | 'unverified'
  | 'narrow'
  | 'brief'
  | 'once'
  | 'capped'
  | 'single'
  | 'crowd';

/** Starts the rig before the tests of a file and stops it after them. */
export function useClientRig(): () => ClientRig {
  let rig: ClientRig | undefined;
  let stop = async () => {};
  beforeAll(async () => {
    let failures = 0;
    const beginnings = createBeginnings();
    const upstream = await startUpstream({
      ...Object.fromEntries(BREAKING.map((model) => [model, breakLater(model, beginnings.all)])),
      'slow-everything': slowEverything,
      recovers: (exchange) => {
        failures -= 1;
        // What the gateway does not ask for again by itself.
        return behaviourFor(failures < 0 ? 'ok' : 'status-429')(exchange);
      },
    });
    const [gateway, beatingGateway] = await Promise.all([
      startGateway({
        catalog: `${catalogFor(upstream, MODELS, { plans: PLANS })}\n${SHOWN}`,
      }),
      startGateway({
        catalog: catalogFor(
          upstream,
          SLOW_ANSWERS.map(({ model }) => model),
        ),
        environment: { HEARTBEAT_SECONDS: '0.05', SILENT_COMMIT_SECONDS: '0.1' },
      }),
    ]);
    stop = async () => {
      await Promise.all([gateway[Symbol.asyncDispose](), beatingGateway[Symbol.asyncDispose]()]);
      await upstream.close();
    };
    const [account, beating, accounts] = await Promise.all([
      gateway.createAccount({ plan: 'roomy' }),
      beatingGateway.createAccount({ plan: 'business' }),
      restrictedAccounts(gateway),
    ]);
    const failNext = (count: number) => {
      failures = count;
    };
    rig = {
      ...{ upstream, gateway, beating, accounts, failNext },
      account: { ...account, fetch: beginnings.fetch },
    };
  }, 30_000);
  afterAll(() => stop());
  return () => {
    if (rig === undefined) throw new Error('the rig has not started');
    return rig;
  };
}

/**
 * A `fetch`, and the streams that were requested with it and have not begun. The gateway begins a
 * stream with its first content, and may ask again while it has sent none: an upstream that breaks
 * off must therefore wait until the client has the head of the answer.
 */
function createBeginnings() {
  const byModel = new Map<string, Set<Promise<Response>>>();
  return {
    fetch: ((input, init) => {
      const { model, stream } = JSON.parse(String(init?.body ?? '{}'));
      const answer = fetch(input, init);
      if (stream !== true) return answer;
      const streams = byModel.get(model) ?? new Set();
      byModel.set(model, streams.add(answer));
      return answer.finally(() => streams.delete(answer));
    }) satisfies Fetch,
    all: (model: string): Promise<unknown> => Promise.allSettled(byModel.get(model) ?? []),
  };
}

/** A behaviour whose pause after the content is a wait for the client. */
function breakLater(model: string, begun: (model: string) => Promise<unknown>): Behaviour {
  return (exchange) =>
    behaviourFor(model)({
      ...exchange,
      sleep: async () => {
        await begun(model);
      },
    });
}

const PLANS = {
  roomy: ROOMY_PLAN,
  narrow: { ...ROOMY_PLAN, models: ['tool'] },
  brief: { ...ROOMY_PLAN, max_context: 1 },
  once: { ...ROOMY_PLAN, requests_per_minute: 1 },
  capped: { ...ROOMY_PLAN, daily_tokens: 1 },
  single: { ...ROOMY_PLAN, concurrent_requests: 1 },
  crowd: { ...ROOMY_PLAN, concurrent_requests: CROWD },
};

async function restrictedAccounts(gateway: Gateway): Promise<ClientRig['accounts']> {
  const [poor, unverified, narrow, brief, once, capped, single, crowd] = await Promise.all([
    gateway.createAccount({ plan: 'roomy', credit: 1 }),
    gateway.createAccount({ verified: false }),
    gateway.createAccount({ plan: 'narrow' }),
    gateway.createAccount({ plan: 'brief' }),
    gateway.createAccount({ plan: 'once' }),
    gateway.createAccount({ plan: 'capped' }),
    gateway.createAccount({ plan: 'single' }),
    gateway.createAccount({ plan: 'crowd' }),
  ]);
  await generate(once, 'chat', 'ok');
  const unknown = { url: gateway.url, key: 'sk-wrong' };
  return { unknown, poor, unverified, narrow, brief, once, capped, single, crowd };
}

/** Thinks, speaks and calls a tool, with 120 ms of silence before each piece. */
const slowEverything: Behaviour = play(
  {
    pieces: [
      { reasoning: REASONING.slice(0, 13) },
      { reasoning: REASONING.slice(13) },
      { text: HELLO },
      { tool: 0, id: 'call_1', name: 'get_weather', json: '' },
      { tool: 0, json: '{"city":"Paris"}' },
    ],
    finish: 'tool_calls',
    usage: USAGE,
  },
  120,
);

/** What a library sent and got, its own retries included. */
export type Recording = {
  readonly fetch: Fetch;
  readonly bodies: Readonly<Record<string, unknown>>[];
  readonly statuses: number[];
  readonly requestIds: (string | null)[];
};

/** A fetch that remembers; `more` is merged into every body that it sends. */
export function recordFetch(more: Readonly<Record<string, unknown>> = {}): Recording {
  const recording: Recording = {
    bodies: [],
    statuses: [],
    requestIds: [],
    fetch: async (input, init) => {
      const body = { ...JSON.parse(String(init?.body)), ...more };
      recording.bodies.push(body);
      // One of the libraries declares the length of the body that it wrote.
      const headers = new Headers(init?.headers);
      headers.delete('content-length');
      const response = await fetch(input, { ...init, headers, body: JSON.stringify(body) });
      recording.statuses.push(response.status);
      recording.requestIds.push(response.headers.get('x-request-id'));
      return response;
    },
  };
  return recording;
}
