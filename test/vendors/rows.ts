// The rows of the matrix: the newest models of each vendor, with what the vendor offers for them.

import type { Site } from './sites.ts';

export type Row = {
  /** The model's slug in the catalog. */
  readonly id: string;
  readonly upstream: string;
  readonly site: Site;
  /** What the operator adds to the vendor's origin. */
  readonly path: string;
  readonly profile: string;
  /** The vendor's name of the model. */
  readonly model: string;
  /** Whether it is the first row of its upstream. */
  readonly leads: boolean;
  /** Whether the vendor wants a credential. */
  readonly credential: boolean;
  readonly vision: boolean;
  /** Whether thinking can be turned off. */
  readonly off: boolean;
  /** Whether the vendor shows thinking, or a summary of it. */
  readonly shows: boolean;
  /** Whether thinking of earlier turns has a form in which it returns. */
  readonly keeps: boolean;
  /** Whether it reports tokens that were written to its cache. */
  readonly writes: boolean;
  /** Whether one turn may think again after its text. */
  readonly mixed: boolean;
  /** Whether the vendor is known to stop when its caller leaves. */
  readonly stops: boolean;
};

type Vendor = Partial<Row> & Pick<Row, 'site'>;
type Model = Partial<Row> & Pick<Row, 'model'>;

/** The rows of one upstream. */
function rows(vendor: Vendor, ...models: readonly Model[]): Row[] {
  const { site } = vendor;
  const upstream = vendor.upstream ?? site;
  return models.map((model, index) => ({
    id: `${upstream}-${model.model.toLowerCase().replaceAll(/[^a-z0-9.]+/g, '-')}`,
    upstream,
    path: '/v1',
    profile: upstream,
    leads: index === 0,
    credential: true,
    vision: true,
    off: true,
    shows: true,
    keeps: true,
    writes: false,
    mixed: false,
    stops: true,
    ...vendor,
    ...model,
  }));
}

const RESPONSES = { shows: true, writes: true, mixed: true, off: false } as const;
const LOCAL = { credential: false } as const;
const CLAUDE = { path: '', writes: true, mixed: true } as const;

export const ROWS: readonly Row[] = [
  ...rows(
    { site: 'openai', ...RESPONSES },
    { model: 'gpt-6.2-astra' },
    { model: 'gpt-6-luna', off: true },
    { model: 'gpt-5.2', off: true, shows: false, keeps: false, mixed: false },
  ),
  ...rows({ site: 'azure', path: '/openai/v1', ...RESPONSES }, { model: 'gpt-6-astra' }),
  ...rows({ site: 'xai', ...RESPONSES }, { model: 'grok-4.7' }),
  ...rows(
    { site: 'anthropic', ...CLAUDE },
    { model: 'claude-opus-5-5', off: false },
    { model: 'claude-sonnet-5-5', off: false },
    { model: 'claude-haiku-5-5' },
    { model: 'claude-fable-5', off: false },
    { model: 'claude-opus-5' },
    { model: 'claude-sonnet-5' },
    { model: 'claude-opus-4-8' },
    { model: 'claude-sonnet-4-6' },
    { model: 'claude-opus-4-5' },
    { model: 'claude-haiku-4-5' },
  ),
  ...rows(
    { site: 'bedrock', ...CLAUDE, path: '/anthropic' },
    { model: 'anthropic.claude-opus-5-5', off: false },
  ),
  ...rows(
    {
      site: 'vertex',
      ...CLAUDE,
      path: '/v1/projects/p/locations/global/publishers/anthropic/models',
    },
    { model: 'claude-opus-5-5', off: false },
  ),
  ...rows(
    { site: 'gemini', path: '/v1beta/openai', off: false, shows: false },
    { model: 'gemini-4-argon' },
    { model: 'gemini-4-hydrogen' },
  ),
  ...rows({ site: 'moonshot' }, { model: 'kimi-k3.1-pro', off: false }, { model: 'kimi-k2.6' }),
  ...rows(
    { site: 'zai', path: '/api/paas/v4', vision: false },
    { model: 'glm-5.3', off: false },
    { model: 'glm-5.2' },
  ),
  ...rows({ site: 'minimax', off: false }, { model: 'MiniMax-M3.1-Flash' }),
  ...rows(
    { site: 'minimax', upstream: 'minimax-messages', path: '/anthropic', writes: true },
    { model: 'MiniMax-M3.1-Flash', off: false },
  ),
  ...rows({ site: 'qwen', path: '/compatible-mode/v1', stops: false }, { model: 'qwen3.8-max' }),
  ...rows({ site: 'deepseek', path: '', vision: false }, { model: 'deepseek-v4-pro' }),
  ...rows(
    {
      site: 'deepseek',
      upstream: 'deepseek-messages',
      path: '/anthropic',
      writes: true,
      vision: false,
    },
    { model: 'deepseek-v4-pro' },
  ),
  ...rows(
    { site: 'mistral' },
    { model: 'mistral-large-4', off: false },
    { model: 'mistral-medium-3.5' },
  ),
  ...rows(
    { site: 'groq', path: '/openai/v1', vision: false, stops: false },
    { model: 'openai/gpt-oss-120b', off: false },
    { model: 'qwen/qwen3.8-27b' },
  ),
  ...rows(
    { site: 'cerebras', vision: false, stops: false },
    { model: 'gpt-oss-120b', off: false },
    { model: 'qwen-3.8-27b' },
  ),
  ...rows(
    { site: 'openrouter', path: '/api/v1', stops: false },
    { model: 'anthropic/claude-opus-5.5' },
  ),
  ...rows(
    {
      site: 'openrouter',
      upstream: 'openrouter-responses',
      path: '/api/v1',
      ...RESPONSES,
      off: true,
      stops: false,
    },
    { model: 'openai/gpt-6-luna' },
  ),
  ...rows({ site: 'together', vision: false, off: false }, { model: 'zai-org/GLM-5.3' }),
  ...rows(
    { site: 'fireworks', path: '/inference/v1', vision: false, off: false },
    { model: 'accounts/fireworks/models/glm-5p3' },
  ),
  ...rows({ site: 'vllm', ...LOCAL }, { model: 'Qwen/Qwen3.8-27B' }),
  ...rows(
    { site: 'vllm', upstream: 'vllm-responses', ...LOCAL, mixed: true, writes: true },
    { model: 'openai/gpt-oss-120b' },
  ),
  ...rows({ site: 'sglang', ...LOCAL }, { model: 'Qwen/Qwen3.8-27B' }),
  ...rows({ site: 'llama.cpp', ...LOCAL }, { model: 'qwen3.8-27b' }),
  ...rows({ site: 'ollama', ...LOCAL }, { model: 'qwen3.8:27b' }),
  ...rows({ site: 'lmstudio', ...LOCAL, off: false }, { model: 'qwen3.8-27b' }),
];
