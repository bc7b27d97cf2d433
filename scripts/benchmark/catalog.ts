// The catalog of the benchmark: one model, and a plan with limits that the benchmark never meets; the
// checks themselves all run.

/** Service tokens a model token. */
export const PRICE = { input: 1, cached: 0.1, output: 2 };

export function benchCatalog(upstreamUrl: string): string {
  return `[service]
usd_per_million = "1.00"

[[upstream]]
id = "bench"
dialect = "chat"
base_url = "${upstreamUrl}/v1"
api_key = "bench"

[[model]]
slug = "bench"
context_window = 128000
max_output = 8192
price = { input = "${PRICE.input}", cached_input = "${PRICE.cached}", output = "${PRICE.output}" }
served_by = [{ upstream = "bench", model = "bench" }]

[plan.bench]
requests_per_minute = 1000000
tokens_per_minute = 1000000000
concurrent_requests = 1000000
max_context = 256000
max_api_keys = 20
`;
}

/** The body of a request that the benchmark sends. */
export function benchBody(stream: boolean): string {
  return JSON.stringify({
    model: 'bench',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Tell me about proverbs on work and play. '.repeat(4) }],
    stream,
  });
}
