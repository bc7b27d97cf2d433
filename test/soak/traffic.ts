// The traffic of a soak: kinds of requests with their weights and the statuses that each may have.
// Reads every answer to its end, or leaves in the middle where the kind says so.

import type { Random } from '../crash/random.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { type Format, PATHS, requestBody } from '../support/client.ts';
import type { Upstream } from '../support/upstream.ts';

const ANSWERS = ['ok', 'reasoning', 'tool', 'text-and-tool', 'tokens-300', 'no-usage'] as const;

const FAULTS = [
  ...['status-500', 'status-429', 'status-401', 'retry-after-1', 'reset', 'reset-before', 'cut'],
  ...[
    'cut-connection',
    'garbage',
    'html',
    'empty',
    'error-in-stream',
    'error-first',
    'context-400',
  ],
  ...['redirect', 'stall', 'stall-after-head', 'overloaded-first'],
] as const;

const SLOW = 'slow-tokens-40-25';

const LARGE_CHARACTERS = 150_000;

/** No status: a repeat was not the first answer. */
const NOT_REPEATED = 0;

export type Caller = { readonly url: string; readonly key: string };

export type World = {
  readonly rich: Caller;
  /** Without balance. */
  readonly poor: Caller;
  readonly random: Random;
};

type Kind = {
  readonly name: string;
  readonly weight: number;
  readonly expects: readonly number[];
  /** Resolves with the status. */
  readonly send: (world: World) => Promise<number>;
};

/** Served from one upstream in each dialect; `version` changes a price. */
export function soakCatalog(upstream: Upstream, version: number): string {
  const models = [...ANSWERS, ...FAULTS, SLOW];
  const price = { input: '1', cached_input: '0.1', output: version % 2 === 0 ? '2' : '3' };
  const inMessages = ANSWERS.map((slug) => [
    '[[model]]',
    `slug = "${slug}-messages"`,
    'context_window = 128000',
    'max_output = 8192',
    'features = ["tools", "json", "vision", "reasoning"]',
    'price = { input = "1", cached_input = "0.1", output = "2" }',
    `served_by = [{ upstream = "messages", model = "${slug}" }]`,
  ]);
  return [
    catalogFor(upstream, models, {
      // The default for the first content is five minutes, in which a client gives up.
      upstream: { idle_seconds: 2, first_byte_seconds: 2, first_content_seconds: 4 },
      model: { price },
      models: { reset: { fallbacks: ['ok'] }, html: { fallbacks: ['ok'] } },
      plans: { soak: LARGE_PLAN },
    }),
    ...inMessages.flat(),
    '[[upstream]]',
    'id = "messages"',
    'dialect = "messages"',
    `base_url = "${upstream.messagesBaseUrl}"`,
    'api_key = "scripted"',
    '',
  ].join('\n');
}

/** Sends one request of a drawn kind. Resolves with its kind, its status and whether it may be. */
export async function sendOne(
  world: World,
): Promise<{ readonly kind: string; readonly status: number; readonly expected: boolean }> {
  const kind = draw(world.random);
  const status = await kind.send(world);
  return { kind: kind.name, status, expected: kind.expects.includes(status) };
}

const formatOf = (random: Random): Format => (random.chance(0.5) ? 'chat' : 'messages');

function answered(name: string, weight: number, stream: boolean): Kind {
  return {
    ...{ name, weight, expects: [200] },
    send({ rich, random }) {
      const model = `${random.pick(ANSWERS)}${random.chance(0.3) ? '-messages' : ''}`;
      const user = `user-${random.whole(1, 5_000)}`;
      const format = formatOf(random);
      const more = format === 'chat' ? { user } : { metadata: { user_id: user } };
      const content = `Question ${random.whole(1, 1_000_000)}?`;
      const messages = [{ role: 'user', content }];
      return exchange(
        rich,
        PATHS[format],
        requestBody(format, model, { stream, messages, ...more }),
      );
    },
  };
}

function refused(
  name: string,
  expects: readonly number[],
  send: (world: World) => Promise<number>,
): Kind {
  return { name, weight: 2, expects, send };
}

const KINDS: readonly Kind[] = [
  answered('whole', 25, false),
  answered('streamed', 35, true),
  {
    ...{ name: 'large prompt', weight: 2, expects: [200] },
    send({ rich, random }) {
      const content = `${random.whole(1, 1_000_000)} `.repeat(LARGE_CHARACTERS / 8);
      const format = formatOf(random);
      const messages = [{ role: 'user', content }];
      return exchange(rich, PATHS[format], requestBody(format, 'ok', { messages, max_tokens: 50 }));
    },
  },
  {
    ...{ name: 'client leaves', weight: 8, expects: [200] },
    send({ rich, random }) {
      const format = formatOf(random);
      const body = requestBody(format, SLOW, { stream: true });
      return exchange(rich, PATHS[format], body, random.whole(1, 6));
    },
  },
  {
    ...{ name: 'repeats with a key', weight: 8, expects: [200] },
    async send({ rich, random }) {
      const format = formatOf(random);
      const stream = random.chance(0.6);
      const leaves = stream && random.chance(0.4);
      const body = requestBody(format, leaves ? SLOW : random.pick(ANSWERS), { stream });
      const key = `soak-${random.whole(1, 2 ** 40)}`;
      const asked = { caller: rich, path: PATHS[format], body, key };
      const first = await read({ ...asked, leaveAfter: leaves ? random.whole(1, 6) : undefined });
      let repeat = await read(asked);
      // The first request still runs: a client asks again.
      for (; repeat.status === 409; repeat = await read(asked)) await Bun.sleep(100);
      const isSame = leaves ? repeat.text.startsWith(first.text) : repeat.text === first.text;
      return isSame && repeat.isReplayed ? repeat.status : NOT_REPEATED;
    },
  },
  {
    // 400: the upstream rejects the context; 503: no upstream is left.
    ...{ name: 'fault of an upstream', weight: 14, expects: [200, 400, 429, 503] },
    send({ rich, random }) {
      const format = formatOf(random);
      const body = requestBody(format, random.pick(FAULTS), { stream: random.chance(0.6) });
      return exchange(rich, PATHS[format], body);
    },
  },
  refused('unknown key', [401], ({ rich, random }) => {
    const key = `sk-${String(random.whole(1, 2 ** 30)).padStart(48, 'x')}`;
    return exchange({ ...rich, key }, PATHS.chat, requestBody('chat', 'ok'));
  }),
  refused('unknown model', [404], ({ rich, random }) =>
    exchange(rich, PATHS.chat, requestBody('chat', `none-${random.whole(1, 1_000_000)}`)),
  ),
  refused('invalid body', [400], ({ rich }) =>
    exchange(rich, PATHS.messages, requestBody('messages', 'ok', { temperature: 7 })),
  ),
  refused('no balance', [402], ({ poor }) => exchange(poor, PATHS.chat, requestBody('chat', 'ok'))),
  refused('count of tokens', [200], ({ rich, random }) => {
    const messages = [{ role: 'user', content: `Count ${random.whole(1, 1_000_000)}.` }];
    return exchange(
      rich,
      `${PATHS.messages}/count_tokens`,
      requestBody('messages', 'ok', { messages }),
    );
  }),
  refused('list of models', [200], ({ rich }) => exchange(rich, '/v1/models')),
  refused('account', [200], ({ rich }) => exchange(rich, '/v1/account')),
];

export const KIND_NAMES: readonly string[] = KINDS.map(({ name }) => name);

const WEIGHTS = KINDS.reduce((sum, { weight }) => sum + weight, 0);

function draw(random: Random): Kind {
  let left = random.next() * WEIGHTS;
  for (const kind of KINDS) {
    left -= kind.weight;
    if (left < 0) return kind;
  }
  throw new Error('the weights of the kinds do not add up');
}

/** Reads the answer to its end, or leaves after so many pieces of it. Resolves with its status. */
async function exchange(
  caller: Caller,
  path: string,
  body?: unknown,
  leaveAfter?: number,
): Promise<number> {
  return (await read({ caller, path, body, leaveAfter })).status;
}

type Asked = {
  readonly caller: Caller;
  readonly path: string;
  readonly body?: unknown;
  readonly key?: string;
  readonly leaveAfter?: number | undefined;
};

async function read({ caller, path, body, key, leaveAfter = Number.POSITIVE_INFINITY }: Asked) {
  const leaving = new AbortController();
  const response = await fetch(`${caller.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${caller.key}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: leaving.signal,
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    if (pieces.length >= leaveAfter) break;
  }
  leaving.abort();
  const { status, headers } = response;
  const isReplayed = headers.get('x-svc-replayed') === 'true';
  return { status, isReplayed, text: Buffer.concat(pieces).toString() };
}
