// Which built-in profile a model of a vendor gets, by the upstream's name for it. The first row that
// fits counts. Applies only where the operator names no profile for the model.

import { type Sentence, say } from './sentence.ts';

/** A model that fits no row gets the profile of its upstream. */
type Generation = {
  /** The built-in profiles of upstreams to which the row applies; the first is the vendor's own. */
  readonly of: readonly string[];
  readonly models: RegExp;
  readonly profile: string;
  /** For the operator, who sees which profile was chosen and why. */
  readonly reason: Sentence;
};

/**
 * Names at Bedrock begin with `anthropic.`, and those at Vertex end with `@` and a date. A date may
 * also follow the version, so no digit may follow a number of one.
 */
const CLAUDE = 'anthropic azure-messages bedrock vertex';

const GPT_6 = /(?:^|\/)gpt-(?:6\.[2-9]|6-astra|6\.1-sol|[7-9]|1\d)/;
const GPT_5 = /(?:^|\/)gpt-5\.[0-5]/;
const ALWAYS_THINKS = say('GPT-6 Astra, 6.1 Sol, 6.2 and later always think');
const NO_MAX = say('max is an effort of GPT-5.6 and later');

type Row = readonly [of: string, models: RegExp, profile: string, reason: Sentence];

const ROWS: readonly Row[] = [
  [
    CLAUDE,
    /claude-sonnet-5[-.]5(?!\d)/,
    'anthropic-sonnet-5.5',
    say('Sonnet 5.5 thinks between tools'),
  ],
  [CLAUDE, /claude-haiku-5[-.]5(?!\d)/, 'anthropic-haiku-5.5', say('Haiku 5.5 binds its thinking')],
  // Later models too: they get the strictest rules known.
  [
    CLAUDE,
    /claude-[a-z]+-(?:5[-.][1-9]|[6-9]|1\d)(?!\d)/,
    'anthropic-5.5',
    say('Claude models since Fable 5.1 and Opus 5.5 always think, and refuse a forced tool'),
  ],
  [CLAUDE, /claude-(?:fable|mythos)-5(?!\d)/, 'anthropic-fable-5', say('Fable 5 always thinks')],
  [CLAUDE, /claude-[a-z]+-5(?!\d)/, 'anthropic-5', say('Claude 5 thinks by default')],
  [CLAUDE, /claude-[a-z]+-4[-.]6(?!\d)/, 'anthropic-4.6', say('Claude 4.6 takes a temperature')],
  [
    CLAUDE,
    /claude-[a-z]+-4[-.]5(?!\d)/,
    'anthropic-4.5',
    say('Claude 4.5 thinks by budgets alone'),
  ],
  [
    CLAUDE,
    /claude-(?:3|[a-z]+-4(?![-.]?[2-9](?!\d)))/,
    'messages',
    say('Claude models before 4.5 have no switch for schemas'),
  ],
  ['openai', GPT_6, 'openai-chat-6', ALWAYS_THINKS],
  ['azure', GPT_6, 'azure-chat-6', ALWAYS_THINKS],
  ['openai-responses', GPT_6, 'openai-6', ALWAYS_THINKS],
  ['azure-responses', GPT_6, 'azure-6', ALWAYS_THINKS],
  ['openai-responses', GPT_5, 'openai-5.4', NO_MAX],
  ['azure-responses', GPT_5, 'azure-5.4', NO_MAX],
  ['gemini', /gemini-4.*hydrogen/, 'gemini-4-hydrogen', say('Gemini 4 Hydrogen takes xhigh')],
  ['gemini', /gemini-3\.8-flash/, 'gemini-3.8-flash', say('Gemini 3.8 Flash takes no temperature')],
  ['moonshot', /kimi-k(?:[3-9]|\d\d)/, 'moonshot-k3', say('Kimi K3 and later have efforts')],
  [
    'moonshot',
    /kimi-k2\.[7-9]/,
    'moonshot-k2.7',
    say('Kimi K2.7 always thinks, and has no switch'),
  ],
  [
    'zai',
    /glm-(?:4|5\.[01]|5(?!\.))/,
    'zai-4.6',
    say('GLM before 5.2 has a switch, and no efforts'),
  ],
  ['zai', /glm-5\.2/, 'zai-5.2', say('GLM-5.2 has two efforts')],
  ['minimax', /minimax-m3(?!\.)/, 'minimax-m3', say('MiniMax M3 has no efforts')],
  ['xai', /grok-4\.3/, 'xai-4.3', say('thinking of Grok 4.3 can be turned off')],
  ['xai', /grok-4\.20/, 'xai-4.20', say('Grok 4.20 refuses an effort')],
  ['mistral', /mistral-large-4/, 'mistral-large-4', say('Mistral Large 4 always thinks')],
  ['fireworks', /glm-5p3/, 'fireworks-glm-5.3', say('GLM-5.3 has efforts, and always thinks')],
  ['groq', /qwen/, 'groq-qwen', say('Qwen at Groq has no depths')],
  ['cerebras', /qwen|glm/, 'cerebras-open', say('thinking of Qwen and GLM can be turned off')],
];

export const GENERATIONS: readonly Generation[] = ROWS.map(([of, models, profile, reason]) => {
  return { of: of.split(' '), models, profile, reason };
});

/** Since these models, tools need Responses at OpenAI: chat turns their thinking off, or refuses. */
const RESPONSES_MODELS = /(?:^|\/)gpt-(?:5\.[4-9]|[6-9]|1\d)/;

/**
 * The profile for Responses of an upstream at OpenAI or Azure whose operator names no dialect;
 * undefined where chat serves the model as well.
 */
export function responsesProfile(profile: string, model: string): string | undefined {
  const serves = profile === 'openai' || profile === 'azure';
  return serves && RESPONSES_MODELS.test(model) ? `${profile}-responses` : undefined;
}

/** Vendors by the host of their address, for an upstream whose operator names no profile. */
const HOSTS: readonly (readonly [RegExp, string])[] = [
  [/^api\.openai\.com$/, 'openai'],
  [/\.(?:openai|services\.ai)\.azure\.com$/, 'azure'],
  [/^api\.anthropic\.com$/, 'anthropic'],
  [/^bedrock-(?:mantle|runtime)\.[a-z0-9-]+\.(?:api\.aws|amazonaws\.com)$/, 'bedrock'],
  [/^(?:[a-z0-9-]+-)?aiplatform\.(?:(?:eu|us)\.rep\.)?googleapis\.com$/, 'vertex'],
  [/^generativelanguage\.googleapis\.com$/, 'gemini'],
  [/^api\.x\.ai$/, 'xai'],
  [/^api\.deepseek\.com$/, 'deepseek'],
  [/^api\.moonshot\.(?:ai|cn)$/, 'moonshot'],
  [/^(?:api\.z\.ai|open\.bigmodel\.cn)$/, 'zai'],
  [/^api\.minimax\.io$/, 'minimax'],
  [/^dashscope(?:-[a-z]+)?\.aliyuncs\.com$/, 'qwen'],
  [/^api\.mistral\.ai$/, 'mistral'],
  [/^api\.groq\.com$/, 'groq'],
  [/^api\.cerebras\.ai$/, 'cerebras'],
  [/^openrouter\.ai$/, 'openrouter'],
  [/^api\.together\.(?:xyz|ai)$/, 'together'],
  [/^api\.fireworks\.ai$/, 'fireworks'],
];

/**
 * Vendors that charge 1.25 times the input price for cache writes: Anthropic and its models on other
 * platforms, OpenAI since GPT-5.6 (their price pages of November 2026).
 */
export const WRITE_CHARGING_VENDORS = ['openai', 'azure', 'anthropic', 'bedrock', 'vertex'];

/** The built-in profile of the vendor at this host; undefined if it is not known. */
export function vendorAt(host: string): string | undefined {
  return HOSTS.find(([pattern]) => pattern.test(host))?.[1];
}
