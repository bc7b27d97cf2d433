// The constants of a round: the accounts with their small limits and balances, the plans, the
// models with their prices, and the words of answers. The laws compute with these numbers.

import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import type { Upstream } from '../support/upstream.ts';

/** One token of every upstream's tokenizer and of ours; in no key and no other value of a frame. */
export const WORD = ' apple';

/** Ends answers where a client names it; the scripted models go on behind it. */
export const STOP = ' pear';

export function countWords(text: string): number {
  return text.split(WORD).length - 1;
}

export type AccountName = 'roomy' | 'narrow' | 'poor' | 'poorer' | 'growing' | 'keyed';

type AccountPlan = {
  readonly name: AccountName;
  readonly concurrency: number;
  /** In service tokens, at the start of a round. */
  readonly credit: number;
  /** Clients that ask as this account at the same time; more than it may. */
  readonly clients: number;
};

export const ACCOUNTS: readonly AccountPlan[] = [
  { name: 'roomy', concurrency: 8, credit: 1_000_000_000, clients: 9 },
  { name: 'narrow', concurrency: 2, credit: 1_000_000_000, clients: 3 },
  { name: 'poor', concurrency: 4, credit: 3_000, clients: 4 },
  { name: 'poorer', concurrency: 3, credit: 400, clients: 2 },
  // Pays for one first slice of output, and a slice or two more.
  { name: 'growing', concurrency: 3, credit: 22_000, clients: 2 },
  // Its clients send keys, and repeat: see keyed.ts.
  { name: 'keyed', concurrency: 4, credit: 1_000_000_000, clients: 0 },
];

/** In 10⁻⁶ service token a model token. */
export type Prices = { readonly input: bigint; readonly cached: bigint; readonly output: bigint };

export const MODELS = ['swift', 'swift-messages', 'steady', 'thinker', 'careful', 'spare'] as const;

export type ModelName = (typeof MODELS)[number];

const USUAL: Prices = { input: 1_000_000n, cached: 100_000n, output: 2_000_000n };

export const PRICES: Readonly<Record<ModelName, Prices>> = {
  swift: USUAL,
  'swift-messages': USUAL,
  /** Its upstream bills all of an answer, even after a client leaves: it is read to its end. */
  steady: USUAL,
  /** Thinks unseen, and reports at the end how much: its answers are read to their report. */
  thinker: USUAL,
  /** Falls back to `spare`. */
  careful: USUAL,
  spare: { input: 500_000n, cached: 50_000n, output: 3_000_000n },
};

/** What an upstream reports of every prompt, where it reports what is true. */
export const REPORTED_PROMPT = { prompt: 20, cached: 8 } as const;

export const MAX_OUTPUT = 30_000;

/** A refusal here has a cause at the upstream: that breakers refuse, too, is tested elsewhere. */
const ASKED_WHATEVER_IT_DOES = 'cool_down_seconds = 0';

/** Upstreams that are one process: chat, messages, one that bills unread output, and OpenAI's. */
export function crashCatalog(upstream: Upstream): string {
  const plans = Object.fromEntries(
    ACCOUNTS.map(({ name, concurrency }) => [
      name,
      { ...LARGE_PLAN, concurrent_requests: concurrency },
    ]),
  );
  return [
    catalogFor(upstream, MODELS, {
      // Takes prompts of a million characters.
      model: { max_output: MAX_OUTPUT, context_window: 2_000_000, features: ['tools', 'json'] },
      models: {
        'swift-messages': { served_by: [{ upstream: 'messages', model: 'swift-messages' }] },
        steady: { served_by: [{ upstream: 'steady', model: 'steady' }] },
        thinker: { served_by: [{ upstream: 'openai', model: 'thinker' }], features: ['reasoning'] },
        careful: { fallbacks: ['spare'] },
        spare: { price: { input: '0.5', cached_input: '0.05', output: '3' } },
      },
      plans,
    }),
    '[[upstream]]',
    'id = "messages"',
    'dialect = "messages"',
    `base_url = "${upstream.messagesBaseUrl}"`,
    'api_key = "scripted"',
    ASKED_WHATEVER_IT_DOES,
    '[[upstream]]',
    'id = "steady"',
    'dialect = "chat"',
    `base_url = "${upstream.baseUrl}"`,
    'api_key = "scripted"',
    ASKED_WHATEVER_IT_DOES,
    'cancel_stops_billing = false',
    '[[upstream]]',
    'id = "openai"',
    'dialect = "chat"',
    `base_url = "${upstream.baseUrl}"`,
    'api_key = "scripted"',
    // It takes no stop sequence of a model that reasons.
    'profile = "openai"',
    // Read to its report, which says what its thinking cost.
    'cancel_stops_billing = false',
    ASKED_WHATEVER_IT_DOES,
    '',
  ].join('\n');
}
