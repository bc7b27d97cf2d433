// Attempts over real sockets: the scripted upstream on one side, an attempt on the other, read to
// its end. Shared by the tests of this folder.

import type { Affinity } from '../../src/core/conversation.ts';
import { createDeadlines } from '../../src/core/deadlines.ts';
import type { UpstreamFailure } from '../../src/core/failure.ts';
import type { GenerationEvent, Turn } from '../../src/core/generation.ts';
import type { UpstreamTimeouts } from '../../src/core/model.ts';
import { type ChatProfile, DEFAULT_PROFILE, DEMO_PROFILE } from '../../src/core/profile.ts';
import type { Candidate } from '../../src/core/route.ts';
import { say } from '../../src/core/sentence.ts';
import { type Attempt, createAttempts } from '../../src/upstream/attempt.ts';
import type { Behaviour } from '../support/behaviours.ts';
import { chatUpstream } from '../support/model.ts';
import { alwaysAt, flatPrice } from '../support/price.ts';
import { requestWith } from '../support/request.ts';
import { type Exchange, startUpstream, type Upstream } from '../support/upstream.ts';
import { createTestClient } from '../support/upstream-client.ts';

export type TryOptions = {
  readonly stream?: boolean;
  readonly stop?: readonly string[];
  readonly maxOutputTokens?: number;
  /** Changes to the default profile of the chat dialect. */
  readonly profile?: Partial<ChatProfile>;
  /** In place of the rig's own, which are never reached. */
  readonly timeouts?: Partial<UpstreamTimeouts>;
  /** `chat` by default. */
  readonly dialect?: 'chat' | 'messages' | 'responses';
  /** In place of one user turn. The model reasons if there are any. */
  readonly turns?: readonly Turn[];
  /** The affinity of the request's conversation; none by default. */
  readonly affinity?: Affinity;
  /** Whether the upstream is read to its end behind a cut; false by default. */
  readonly billsToEnd?: boolean;
  /** `sockets` by default. */
  readonly transport?: 'sockets' | 'fetch';
};

export type Ended = {
  readonly events: readonly GenerationEvent[];
  readonly end: 'finished' | UpstreamFailure;
};

export type AttemptRig = {
  readonly upstream: Upstream;
  /** The answers that their upstreams finished: whether streamed, and the kinds of the last events. */
  readonly finished: [streamed: boolean, kinds: GenerationEvent['kind'][]][];
  readonly start: (model: string, options?: TryOptions) => Attempt;
  /** Starts an attempt and reads it to its end. */
  readonly run: (model: string, options?: TryOptions) => Promise<Ended>;
  readonly close: () => Promise<void>;
};

const REQUEST = requestWith({ model: 'any', turns: [], stream: true });

const PATIENT: UpstreamTimeouts = {
  connectMs: 60_000,
  firstByteMs: 60_000,
  firstContentMs: 60_000,
  idleMs: 60_000,
  minTokensPerSecond: 0,
  totalMs: 60_000,
};

/** The prompts of attempts that have read an event; each attempt has its own. */
const read = new Set<string>();
let attempts = 0;

const PROMPT = /Hello, this is attempt \d+\./;

/** Waits until the caller has read an event: a reset destroys what it has not read. */
export async function untilRead(exchange: Exchange): Promise<void> {
  const [prompt = ''] = PROMPT.exec(exchange.request.text) ?? [];
  while (!exchange.gone() && !read.has(prompt)) await exchange.sleep(2);
}

/** Behaviours by model name, as in the scripted upstream. */
export async function startAttemptRig(
  behaviours: Readonly<Record<string, Behaviour>>,
): Promise<AttemptRig> {
  const upstream = await startUpstream(behaviours);
  const deadlines = createDeadlines(() => performance.now());
  const sweeper = setInterval(() => deadlines.sweep(), 20);
  const client = createTestClient();
  const finished: AttemptRig['finished'] = [];
  const startAttempt = createAttempts({
    ...{ client, clock: Date.now, deadlines },
    onAnswer: (_, streamed, last) => void finished.push([streamed, last.map(({ kind }) => kind)]),
  });

  function begin(model: string, options: TryOptions = {}): [attempt: Attempt, prompt: string] {
    const from = served(upstream, options);
    attempts += 1;
    const text = `Hello, this is attempt ${attempts}.`;
    const attempt = startAttempt({
      candidate: {
        ...candidate(model, from, options.turns === undefined ? [] : ['reasoning']),
        ...(options.affinity !== undefined && { affinity: options.affinity }),
      },
      credential: from.credentials[0],
      request: {
        ...REQUEST,
        turns: options.turns ?? [{ role: 'user', parts: [{ kind: 'text', text }] }],
        stop: options.stop ?? [],
      },
      maxOutputTokens: options.maxOutputTokens ?? 100,
      stream: options.stream ?? true,
    });
    return [attempt, text];
  }

  return {
    ...{ upstream, finished },
    start: (model, options) => begin(model, options)[0],
    async run(model, options) {
      const [attempt, prompt] = begin(model, options);
      const events: GenerationEvent[] = [];
      for (;;) {
        const batch = await attempt.next();
        for (const event of batch.events) events.push(event);
        if (events.length > 0) read.add(prompt);
        if (batch.end !== undefined) return { events, end: batch.end };
      }
    },
    async close() {
      clearInterval(sweeper);
      client.close();
      await upstream.close();
    },
  };
}

function served(
  { baseUrl, messagesBaseUrl }: Upstream,
  { dialect = 'chat', profile, timeouts: changes, transport = 'sockets', ...how }: TryOptions,
): Candidate['upstream'] {
  const timeouts = { ...PATIENT, ...changes };
  const credentials = [{ id: '1', apiKey: 'key' }] as const;
  const cancelStopsBilling = how.billsToEnd !== true;
  const shared = {
    ...chatUpstream('scripted'),
    ...{ credentials, timeouts, transport, cancelStopsBilling },
  };
  switch (dialect) {
    case 'chat':
      return { ...shared, dialect, baseUrl, profile: { ...DEFAULT_PROFILE.chat, ...profile } };
    case 'messages':
      return { ...shared, dialect, baseUrl: messagesBaseUrl, profile: DEFAULT_PROFILE.messages };
    case 'responses': {
      const encrypted = { ...DEFAULT_PROFILE.responses, reasoningHistory: 'encrypted' } as const;
      return { ...shared, dialect, baseUrl, profile: encrypted };
    }
  }
}

function candidate(
  model: string,
  upstream: Candidate['upstream'],
  features: readonly 'reasoning'[],
): Candidate {
  const profile = upstream.dialect === 'demo' ? DEMO_PROFILE : upstream.profile;
  const placed = { profile, profileChoice: { name: 'test', reason: say('a test') } };
  return {
    model: {
      slug: model,
      aliases: [],
      displayName: model,
      description: '',
      created: 0,
      contextWindow: 128_000,
      maxOutput: 8_192,
      features: new Set(features),
      prices: alwaysAt(flatPrice(model, 1n)),
      servedBy: [
        { upstream: 'scripted', model, weight: 1, ...placed, timeouts: upstream.timeouts },
      ],
      fallbacks: [],
    },
    upstream,
    profile: placed.profile,
    upstreamModel: model,
    timeouts: upstream.timeouts,
    price: flatPrice(model, 1n),
    maxOutputTokens: 100,
    fallback: 'none',
  };
}

/** The events with neighbouring texts joined: what does not depend on how an answer was split. */
export function joined(events: readonly GenerationEvent[]): GenerationEvent[] {
  const result: GenerationEvent[] = [];
  for (const event of events) {
    const last = result.at(-1);
    if (event.kind === 'text-delta' && last?.kind === 'text-delta') {
      result[result.length - 1] = { kind: 'text-delta', text: last.text + event.text };
    } else result.push(event);
  }
  return result;
}
