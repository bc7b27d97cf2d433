// The exports of vendors: which columns have what. Sources, read on 2026-11-28:
// - OpenAI, GET /organization/usage/completions and /organization/costs: the API reference at
//   developers.openai.com/api/reference. The console's CSV files have the same members as columns;
//   `line_item` is such as `gpt-4o-mini-2024-07-18, cached input`, and `priority | gpt-5, output`.
// - Anthropic, GET /v1/organizations/usage_report/messages and /cost_report: platform.claude.com/
//   docs/en/api/admin. The console's files `claude_api_tokens_*.csv` and `claude_api_cost_*.csv`:
//   their headers in public repositories (2026-03 to 2026-09).
// - OpenRouter, GET /api/v1/activity: openrouter.ai/docs/api-reference. The CSV files of the
//   activity page, by day and by generation: their headers in public repositories (2026).

import { OperationError } from '../error.ts';

export const VENDORS = ['openai', 'anthropic', 'openrouter'] as const;
export type Vendor = (typeof VENDORS)[number];

/** The hosts of their APIs, by which the upstream is found. */
export const VENDOR_HOSTS: Readonly<Record<Vendor, string>> = {
  openai: 'api.openai.com',
  anthropic: 'api.anthropic.com',
  openrouter: 'openrouter.ai',
};

/** The names of columns. All but those of `day`, `model`, the amount and input and output may lack. */
export type ExportFormat = {
  readonly vendor: Vendor;
  readonly name: string;
  readonly day: string;
  /** Where it is `line_item`, the model is its first part. */
  readonly model: string;
  readonly key?: string;
  readonly requests?: string;
  readonly input?: string;
  /** The input without cache reads and writes, in place of `input`. */
  readonly uncached?: string;
  readonly cached?: string;
  readonly cacheWrite?: string;
  readonly cacheWrite1h?: string;
  readonly output?: string;
  readonly amount?: string;
  readonly currency?: string;
  /** Of the amount in 10⁻¹⁸ USD; default 18. */
  readonly decimals?: number;
  /** Each record is one call. */
  readonly isCall?: true;
  /** What other vendors bill through this one. */
  readonly elsewhere?: string;
  /** Columns whose words say that the price is another one. */
  readonly marks: readonly string[];
};

const ANTHROPIC_FILE: Omit<ExportFormat, 'name' | 'model'> = {
  ...{ vendor: 'anthropic', day: 'usage_date_utc', key: 'api_key' },
  marks: ['usage_type', 'context_window', 'cost_type', 'speed', 'inference_geo'],
};

const OPENROUTER_ACTIVITY: ExportFormat = {
  ...{ vendor: 'openrouter', name: 'OpenRouter activity', day: 'date', model: 'model' },
  ...{ requests: 'requests', input: 'prompt_tokens', output: 'completion_tokens' },
  ...{ amount: 'usage', elsewhere: 'byok_usage_inference', marks: [] },
};

const FORMATS: readonly ExportFormat[] = [
  {
    ...{ vendor: 'openai', name: 'OpenAI usage', day: 'start_time', model: 'model' },
    ...{ key: 'api_key_id', requests: 'num_model_requests' },
    ...{ input: 'input_tokens', cached: 'input_cached_tokens', output: 'output_tokens' },
    ...{ cacheWrite: 'input_cache_write_tokens', marks: ['service_tier', 'batch'] },
  },
  {
    ...{ vendor: 'openai', name: 'OpenAI costs', day: 'start_time', model: 'line_item' },
    ...{ key: 'api_key_id', amount: 'amount_value', currency: 'amount_currency', marks: [] },
  },
  {
    ...{ vendor: 'anthropic', name: 'Anthropic usage report', day: 'starting_at', model: 'model' },
    ...{ key: 'api_key_id', uncached: 'uncached_input_tokens', output: 'output_tokens' },
    cached: 'cache_read_input_tokens',
    cacheWrite: 'cache_creation_ephemeral_5m_input_tokens',
    cacheWrite1h: 'cache_creation_ephemeral_1h_input_tokens',
    marks: ['service_tier', 'context_window', 'speed', 'inference_geo'],
  },
  {
    ...{ vendor: 'anthropic', name: 'Anthropic cost report', day: 'starting_at', model: 'model' },
    ...{ amount: 'amount', decimals: 16, currency: 'currency' },
    marks: ['service_tier', 'context_window', 'cost_type', 'inference_geo'],
  },
  {
    ...{ ...ANTHROPIC_FILE, name: 'Anthropic token file', model: 'model_version' },
    ...{ uncached: 'usage_input_tokens_no_cache', output: 'usage_output_tokens' },
    cached: 'usage_input_tokens_cache_read',
    cacheWrite: 'usage_input_tokens_cache_write_5m',
    cacheWrite1h: 'usage_input_tokens_cache_write_1h',
  },
  { ...ANTHROPIC_FILE, name: 'Anthropic cost file', model: 'model', amount: 'cost_usd' },
  OPENROUTER_ACTIVITY,
  {
    ...{ ...OPENROUTER_ACTIVITY, name: 'OpenRouter activity file', model: 'slug' },
    elsewhere: 'byok_usage',
  },
  {
    // Its counts are left out: OpenRouter may count them with a tokenizer of its own.
    ...{ vendor: 'openrouter', name: 'OpenRouter generations', day: 'created_at', marks: [] },
    isCall: true,
    ...{ model: 'model_permaslug', key: 'api_key_name', amount: 'cost_total' },
    elsewhere: 'byok_usage_inference',
  },
];

/** Throws `unknown_columns`, with what the most similar export needs. */
export function formatOf(
  columns: ReadonlySet<string>,
  name: string,
  vendor?: Vendor,
): ExportFormat {
  const known = FORMATS.filter((format) => vendor === undefined || format.vendor === vendor);
  const lacks = ({ day, model, amount, input, uncached, output }: ExportFormat): string[] =>
    [day, model, amount, input, uncached, output].flatMap((column) =>
      column === undefined || columns.has(column) ? [] : [column],
    );
  const [best] = known.toSorted((a, b) => lacks(a).length - lacks(b).length);
  if (best !== undefined && lacks(best).length === 0) return best;
  const names = known.map((format) => format.name).join(', ');
  const missing = best === undefined ? '' : lacks(best).join(', ');
  throw new OperationError(
    'unknown_columns',
    `${name} is no export that Tollgate knows (${names}). To be read as ${best?.name}, it lacks ${missing}.`,
  );
}
