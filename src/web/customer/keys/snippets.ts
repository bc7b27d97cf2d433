// Generates snippets for a key: code in the wire formats and settings of common agents. Pure text.
// The key page inserts the key; all other pages insert a placeholder.

import { CODE_LANGUAGES, codeFor } from '../playground/code.ts';

export type Snippet = {
  readonly format: 'chat' | 'messages' | 'responses';
  /** The path of the file that the text belongs in, if any. */
  readonly file?: string;
  readonly code: string;
};

type SnippetGroup = {
  readonly id: string;
  readonly label: string;
  /** One for each format that it speaks. */
  readonly snippets: readonly Snippet[];
};

export type Place = {
  /** Without /v1. */
  readonly baseUrl: string;
  readonly model: string;
  /** Whether the model reasons: agents show and store what it thinks. */
  readonly reasoning: boolean;
  /** Whether the service has the Responses format. */
  readonly responses: boolean;
  /** The name of the service. */
  readonly name: string;
  readonly apiKey: string;
};

export function snippetGroups(place: Place): readonly SnippetGroup[] {
  const groups = [
    ...CODE_LANGUAGES.map(({ id, label }) => ({ id, label, snippets: firstRequest(place, id) })),
    { id: 'claude-code', label: 'Claude Code', snippets: claudeCode(place) },
    { id: 'codex', label: 'Codex', snippets: codex(place) },
    { id: 'opencode', label: 'opencode', snippets: opencode(place) },
    { id: 'qwen-code', label: 'qwen-code', snippets: qwenCode(place) },
    { id: 'continue', label: 'Continue', snippets: continueDev(place) },
    { id: 'cline', label: 'cline', snippets: cline(place) },
    { id: 'pi', label: 'pi', snippets: pi(place) },
  ];
  return groups
    .map(({ snippets, ...group }) => ({
      ...group,
      snippets: snippets.filter(({ format }) => place.responses || format !== 'responses'),
    }))
    .filter(({ snippets }) => snippets.length > 0);
}

/** The first request, in each format. */
function firstRequest({ model, ...place }: Place, language: keyof ReturnType<typeof codeFor>) {
  const messages = [{ role: 'user', content: 'Hello!' }];
  const bodies = {
    chat: { model, messages },
    messages: { model, max_tokens: 256, messages },
    responses: { model, input: 'Hello!' },
  };
  return (['chat', 'messages', 'responses'] as const).map((format): Snippet => {
    const body = bodies[format];
    return { format, code: codeFor(format, body, { ...place, printsText: true })[language] };
  });
}

function claudeCode({ baseUrl, model, apiKey }: Place): Snippet[] {
  return [
    {
      format: 'messages',
      code: `export ANTHROPIC_BASE_URL='${baseUrl}'
export ANTHROPIC_AUTH_TOKEN='${apiKey}'
claude --model ${model}`,
    },
  ];
}

/** Its settings name a variable that has the key. */
function codex({ baseUrl, model, name, apiKey }: Place): Snippet[] {
  return [
    {
      format: 'responses',
      file: '~/.codex/config.toml',
      code: `# export API_KEY='${apiKey}'
model = ${JSON.stringify(model)}
model_provider = "tollgate"
model_reasoning_summary = "auto"

[model_providers.tollgate]
name = ${JSON.stringify(name)}
base_url = "${baseUrl}/v1"
env_key = "API_KEY"
wire_api = "responses"`,
    },
  ];
}

function opencode({ baseUrl, model, reasoning, name, apiKey }: Place): Snippet[] {
  const config = (npm: string) =>
    json({
      $schema: 'https://opencode.ai/config.json',
      provider: {
        tollgate: {
          npm,
          name,
          options: { baseURL: `${baseUrl}/v1`, apiKey },
          models: { [model]: { reasoning, tool_call: true } },
        },
      },
      model: `tollgate/${model}`,
    });
  const file = '~/.config/opencode/opencode.json';
  return [
    { format: 'chat', file, code: config('@ai-sdk/openai-compatible') },
    { format: 'messages', file, code: config('@ai-sdk/anthropic') },
  ];
}

function qwenCode({ baseUrl, model, apiKey }: Place): Snippet[] {
  return [
    {
      format: 'chat',
      code: `export OPENAI_BASE_URL='${baseUrl}/v1'
export OPENAI_API_KEY='${apiKey}'
export OPENAI_MODEL='${model}'
qwen --auth-type openai`,
    },
    {
      format: 'messages',
      code: `export ANTHROPIC_BASE_URL='${baseUrl}'
export ANTHROPIC_API_KEY='${apiKey}'
export ANTHROPIC_MODEL='${model}'
qwen --auth-type anthropic`,
    },
  ];
}

function continueDev({ baseUrl, model, name, apiKey }: Place): Snippet[] {
  const config = (provider: string, apiBase: string) => `name: ${JSON.stringify(name)}
version: 1.0.0
schema: v1
models:
  - name: ${model}
    provider: ${provider}
    model: ${model}
    apiBase: ${apiBase}
    apiKey: ${apiKey}
    roles: [chat, edit, apply]
    capabilities: [tool_use]`;
  const file = '~/.continue/config.yaml';
  return [
    { format: 'chat', file, code: config('openai', `${baseUrl}/v1`) },
    { format: 'messages', file, code: config('anthropic', `${baseUrl}/v1/`) },
  ];
}

function cline({ baseUrl, model, apiKey }: Place): Snippet[] {
  return [
    {
      format: 'chat',
      code: `cline auth openai-compatible --baseurl '${baseUrl}/v1' \\
  --apikey '${apiKey}' --modelid '${model}'
cline -P openai-compatible -m '${model}'`,
    },
  ];
}

function pi({ baseUrl, model, reasoning, apiKey }: Place): Snippet[] {
  const config = (api: string, address: string) =>
    json({
      providers: {
        tollgate: { baseUrl: address, api, apiKey, models: [{ id: model, reasoning }] },
      },
    });
  const file = '~/.pi/agent/models.json';
  return [
    { format: 'chat', file, code: config('openai-completions', `${baseUrl}/v1`) },
    { format: 'messages', file, code: config('anthropic-messages', baseUrl) },
  ];
}

function json(value: object): string {
  return JSON.stringify(value, undefined, 2);
}
