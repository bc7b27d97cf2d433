// Which built-in profile a model of a vendor gets, by the upstream's name for it. The first row that
// fits counts. Applies only where the operator names no profile for the model.

/** A model that fits no row gets the profile of its upstream. */
type Generation = {
  /** The built-in profiles of upstreams to which the row applies. */
  readonly of: readonly string[];
  readonly models: RegExp;
  readonly profile: string;
  /** For the operator, who sees which profile was chosen and why. */
  readonly reason: string;
};

/**
 * Names at Bedrock begin with `anthropic.`, and those at Vertex end with `@` and a date. A date may
 * also follow the version, so no digit may follow a number of one.
 */
const ANTHROPIC = ['anthropic', 'bedrock', 'vertex'];
const OPENAI = ['openai-responses'];
const AZURE = ['azure-responses'];

export const GENERATIONS: readonly Generation[] = [
  {
    of: ANTHROPIC,
    models: /claude-sonnet-5[-.]5(?!\d)/,
    profile: 'anthropic-sonnet-5.5',
    reason: 'Sonnet 5.5 thinks between tools at least, and refuses a forced tool',
  },
  {
    of: ANTHROPIC,
    models: /claude-haiku-5[-.]5(?!\d)/,
    profile: 'anthropic-haiku-5.5',
    reason: 'the thinking of Haiku 5.5 is bound to its conversation',
  },
  {
    of: ANTHROPIC,
    // Later models too: they get the strictest rules known.
    models: /claude-[a-z]+-(?:5[-.][1-9]|[6-9]|1\d)(?!\d)/,
    profile: 'anthropic-5.5',
    reason: 'Claude models since Fable 5.1 and Opus 5.5 always think, and refuse a forced tool',
  },
  {
    of: ANTHROPIC,
    models: /claude-(?:fable|mythos)-5(?!\d)/,
    profile: 'anthropic-fable-5',
    reason: 'Fable 5 always thinks',
  },
  {
    of: ANTHROPIC,
    models: /claude-[a-z]+-4[-.]6(?!\d)/,
    profile: 'anthropic-4.6',
    reason: 'Claude 4.6 takes a temperature, and no xhigh',
  },
  {
    of: ANTHROPIC,
    models: /claude-[a-z]+-4[-.]5(?!\d)/,
    profile: 'anthropic-4.5',
    reason: 'Claude 4.5 thinks by budgets alone',
  },
  {
    of: ANTHROPIC,
    models: /claude-(?:3|[a-z]+-4(?![-.]?[2-9](?!\d)))/,
    profile: 'messages',
    reason: 'Claude models before 4.5 have no switch for schemas',
  },
  ...[
    { of: ['openai'], prefix: 'openai', chat: true },
    { of: ['azure'], prefix: 'azure', chat: true },
    { of: OPENAI, prefix: 'openai', chat: false },
    { of: AZURE, prefix: 'azure', chat: false },
  ].flatMap(({ of, prefix, chat }): Generation[] => [
    {
      of,
      models: /(?:^|\/)gpt-(?:6\.[2-9]|6-astra|6\.1-sol|[7-9]|1\d)/,
      profile: chat ? `${prefix}-chat-6` : `${prefix}-6`,
      reason: 'GPT-6 Astra, 6.1 Sol, 6.2 and later always think',
    },
    ...(chat
      ? []
      : [
          {
            of,
            models: /(?:^|\/)gpt-5\.[0-5]/,
            profile: `${prefix}-5.4`,
            reason: 'max is an effort of GPT-5.6 and later',
          },
        ]),
  ]),
  {
    of: ['gemini'],
    models: /gemini-4.*hydrogen/,
    profile: 'gemini-4-hydrogen',
    reason: 'Gemini 4 Hydrogen takes xhigh',
  },
  {
    of: ['gemini'],
    models: /gemini-3\.8-flash/,
    profile: 'gemini-3.8-flash',
    reason: 'Gemini 3.8 Flash takes no temperature',
  },
  {
    of: ['moonshot'],
    models: /kimi-k(?:[3-9]|\d\d)/,
    profile: 'moonshot-k3',
    reason: 'Kimi K3 and later have efforts, and always think',
  },
  {
    of: ['moonshot'],
    models: /kimi-k2\.[7-9]/,
    profile: 'moonshot-k2.7',
    reason: 'Kimi K2.7 always thinks, and has no switch',
  },
  {
    of: ['zai'],
    models: /glm-(?:4|5\.[01]|5(?!\.))/,
    profile: 'zai-4.6',
    reason: 'GLM before 5.2 has a switch for thinking, and no efforts',
  },
  {
    of: ['zai'],
    models: /glm-5\.2/,
    profile: 'zai-5.2',
    reason: 'GLM-5.2 has two efforts',
  },
  {
    of: ['minimax'],
    models: /minimax-m3(?!\.)/,
    profile: 'minimax-m3',
    reason: 'MiniMax M3 has no efforts',
  },
  {
    of: ['xai'],
    models: /grok-4\.3/,
    profile: 'xai-4.3',
    reason: 'thinking of Grok 4.3 can be turned off',
  },
  {
    of: ['xai'],
    models: /grok-4\.20/,
    profile: 'xai-4.20',
    reason: 'Grok 4.20 refuses an effort',
  },
  {
    of: ['mistral'],
    models: /mistral-large-4/,
    profile: 'mistral-large-4',
    reason: 'Mistral Large 4 has three efforts, and always thinks',
  },
  {
    of: ['fireworks'],
    models: /glm-5p3/,
    profile: 'fireworks-glm-5.3',
    reason: 'GLM-5.3 has efforts, and always thinks',
  },
  { of: ['groq'], models: /qwen/, profile: 'groq-qwen', reason: 'Qwen at Groq has no depths' },
  {
    of: ['cerebras'],
    models: /qwen|glm/,
    profile: 'cerebras-open',
    reason: 'thinking of Qwen and GLM can be turned off at Cerebras',
  },
];

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

/** The built-in profile of the vendor at this host; undefined if it is not known. */
export function vendorAt(host: string): string | undefined {
  return HOSTS.find(([pattern]) => pattern.test(host))?.[1];
}
