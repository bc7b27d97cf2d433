// The benchmark's catalog and request bodies. Its plan has limits that are checked but never
// reached.

/** Each is a behaviour of upstream.ts. */
export type BenchModel = 'bench' | 'long' | 'held' | 'slow';

const MODELS: readonly BenchModel[] = ['bench', 'long', 'held', 'slow'];

/** Service tokens a model token. */
export const PRICE = { input: 1, cached: 0.1, output: 2 };

export function benchCatalog(upstreamUrl: string): string {
  const model = (slug: BenchModel) => `
[[model]]
slug = "${slug}"
context_window = 128000
max_output = 8192
price = { input = "${PRICE.input}", cached_input = "${PRICE.cached}", output = "${PRICE.output}" }
served_by = [{ upstream = "bench", model = "${slug}" }]
`;
  return `[service]
usd_per_million = "1.00"

[[upstream]]
id = "bench"
dialect = "chat"
base_url = "${upstreamUrl}/v1"
api_key = "bench"
${MODELS.map(model).join('')}
[plan.bench]
requests_per_minute = 1000000
tokens_per_minute = 1000000000
concurrent_requests = 1000000
daily_tokens = 1000000000000000
monthly_tokens = 1000000000000000
max_context = 256000
max_api_keys = 20
`;
}

export type Ask = {
  readonly path: '/v1/chat/completions' | '/v1/messages' | '/v1/messages/count_tokens' | '/healthz';
  /** Absent: a GET. */
  readonly body?: string;
  readonly keyless?: boolean;
  /** 200 where it is absent. */
  readonly status?: number;
};

const PROMPT = 'Tell me about proverbs on work and play. ';
const PROMPT_BYTES = 160;

/** As a coding agent has it: a conversation whose turns are mostly known from the last request. */
const LARGE = { turns: 31, bytesATurn: 4_800 };

/** More than the answers have, since output beyond the bound is not passed on. */
const outputTokensMax = (model: BenchModel): number => (model === 'long' ? 250 : 100);

/** The bodies of both formats have the same members. */
function bodyOf(
  model: BenchModel,
  stream: boolean,
  { turns, bytesATurn } = { turns: 1, bytesATurn: PROMPT_BYTES },
): string {
  const messages = Array.from({ length: turns }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: `${turn}: ${PROMPT.repeat(Math.round(bytesATurn / PROMPT.length))}`,
  }));
  return JSON.stringify({ model, max_tokens: outputTokensMax(model), messages, stream });
}

export const whole: Ask = { path: '/v1/chat/completions', body: bodyOf('bench', false) };

export const health: Ask = { path: '/healthz' };

export const keyless: Ask = { ...whole, keyless: true, status: 401 };

export const countTokens: Ask = { ...whole, path: '/v1/messages/count_tokens' };

export const streamed = (path: Ask['path'], model: BenchModel = 'bench'): Ask => ({
  path,
  body: bodyOf(model, true),
});

export const large = (model: BenchModel = 'bench'): Ask => ({
  path: '/v1/chat/completions',
  body: bodyOf(model, false, LARGE),
});
