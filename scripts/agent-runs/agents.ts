// How each coding agent is pointed at a gateway: the environment, the files and the command of one
// run. Data and text only; run.ts starts the agents.

import { join, resolve } from 'node:path';
import type { EveryFormat } from '../../test/support/client.ts';

const packages = resolve(import.meta.dir, '../../.tools/agents/node_modules');
const binaries = join(packages, '.bin');

/** Where one run takes place, and whom it asks. */
export type Place = {
  /** The agent's home, empty but for what the run puts there. */
  readonly home: string;
  readonly directory: string;
  /** Of the gateway, without `/v1`. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
};

export type Launch = {
  readonly command: readonly string[];
  /** A command that has to run first, such as one that stores the key. */
  readonly before?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Texts by path, relative to the home. */
  readonly files?: Readonly<Record<string, string>>;
};

export type Agent = {
  readonly name: string;
  readonly package: string;
  readonly formats: Partial<
    Readonly<Record<EveryFormat, (place: Place, prompt: string) => Launch>>
  >;
};

export const AGENTS: readonly Agent[] = [
  {
    name: 'claude-code',
    package: '@anthropic-ai/claude-code',
    formats: { messages: claudeCode },
  },
  {
    name: 'opencode',
    package: 'opencode-ai',
    formats: {
      chat: (place, prompt) => opencode(place, prompt, '@ai-sdk/openai-compatible'),
      messages: (place, prompt) => opencode(place, prompt, '@ai-sdk/anthropic'),
      responses: (place, prompt) => opencode(place, prompt, '@ai-sdk/openai'),
    },
  },
  {
    name: 'qwen-code',
    package: '@qwen-code/qwen-code',
    formats: {
      chat: ({ url, key, model }, prompt) => ({
        command: [join(binaries, 'qwen'), '--auth-type', 'openai', '-p', prompt],
        environment: {
          OPENAI_BASE_URL: `${url}/v1`,
          OPENAI_API_KEY: key,
          OPENAI_MODEL: model,
        },
      }),
      messages: ({ url, key, model }, prompt) => ({
        command: [join(binaries, 'qwen'), '--auth-type', 'anthropic', '-p', prompt],
        environment: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key, ANTHROPIC_MODEL: model },
      }),
    },
  },
  {
    name: 'pi',
    package: '@mariozechner/pi-coding-agent',
    formats: {
      chat: (place, prompt) => pi(place, prompt, 'openai-completions', `${place.url}/v1`),
      messages: (place, prompt) => pi(place, prompt, 'anthropic-messages', place.url),
      responses: (place, prompt) => pi(place, prompt, 'openai-responses', `${place.url}/v1`),
    },
  },
  {
    name: 'continue',
    package: '@continuedev/cli',
    formats: {
      chat: (place, prompt) => continueCli(place, prompt, 'openai', `${place.url}/v1`),
      messages: (place, prompt) => continueCli(place, prompt, 'anthropic', `${place.url}/v1/`),
    },
  },
  { name: 'cline', package: 'cline', formats: { chat: cline } },
  { name: 'codex', package: '@openai/codex', formats: { responses: codex } },
];

/** The release of an agent that is installed. */
export async function versionOf(agent: Agent): Promise<string> {
  const manifest = await Bun.file(join(packages, agent.package, 'package.json')).json();
  return manifest.version;
}

/** What every agent starts from; nothing of this process's own environment reaches one. */
export function baseEnvironment(home: string): Record<string, string> {
  return {
    PATH: `${binaries}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    TMPDIR: home,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    DO_NOT_TRACK: '1',
  };
}

/** Some packages hold the program itself in a package for each platform; no install script ran. */
function native(path: string): string {
  return join(packages, path.replace('ARCH', process.arch));
}

function claudeCode({ url, key, model }: Place, prompt: string): Launch {
  return {
    command: [
      native('@anthropic-ai/claude-code-linux-ARCH/claude'),
      ...['-p', prompt, '--model', model],
    ],
    environment: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  };
}

function opencode({ url, key, model }: Place, prompt: string, library: string): Launch {
  const config = {
    provider: {
      tollgate: {
        npm: library,
        options: { baseURL: `${url}/v1`, apiKey: key },
        models: { [model]: { reasoning: true, tool_call: true } },
      },
    },
  };
  return {
    command: [
      native('opencode-linux-ARCH/bin/opencode'),
      ...['run', '--auto', '-m', `tollgate/${model}`, prompt],
    ],
    environment: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    files: { '.config/opencode/opencode.json': JSON.stringify(config) },
  };
}

function pi({ key, model }: Place, prompt: string, api: string, baseUrl: string): Launch {
  const models = {
    providers: {
      tollgate: { baseUrl, api, apiKey: key, models: [{ id: model, reasoning: true }] },
    },
  };
  return {
    command: [
      join(binaries, 'pi'),
      ...['--provider', 'tollgate', '--model', model, '--thinking', 'medium', '-p', prompt],
    ],
    environment: { PI_OFFLINE: '1' },
    files: { '.pi/agent/models.json': JSON.stringify(models) },
  };
}

function continueCli(
  { home, key, model }: Place,
  prompt: string,
  provider: string,
  apiBase: string,
): Launch {
  const config = {
    name: 'Tollgate',
    version: '1.0.0',
    schema: 'v1',
    models: [
      {
        name: model,
        provider,
        model,
        apiBase,
        apiKey: key,
        roles: ['chat'],
        capabilities: ['tool_use'],
      },
    ],
  };
  return {
    command: [join(binaries, 'cn'), '--config', join(home, 'config.yaml'), '-p', prompt],
    environment: { CONTINUE_TELEMETRY_ENABLED: '0' },
    // Every JSON text is YAML too.
    files: { 'config.yaml': JSON.stringify(config) },
  };
}

function cline({ home, url, key, model }: Place, prompt: string): Launch {
  const program = join(binaries, 'cline');
  const provider = 'openai-compatible';
  const data = ['--data-dir', join(home, 'data')];
  return {
    before: [
      ...[program, 'auth', provider, ...data],
      ...['--apikey', key, '--modelid', model, '--baseurl', `${url}/v1`],
    ],
    command: [program, ...data, '-P', provider, '-m', model, prompt],
  };
}

/** Codex patches files with a tool of its own only where the model's record names it. */
function codex({ home, url, key, model }: Place, prompt: string): Launch {
  const catalog = join(home, 'models.json');
  const record = {
    ...{ slug: model, display_name: model, base_instructions: 'You are a coding agent.' },
    ...{ visibility: 'list', supported_in_api: true, priority: 0, support_verbosity: false },
    ...{ supported_reasoning_levels: [], experimental_supported_tools: [] },
    ...{ shell_type: 'unified_exec', apply_patch_tool_type: 'freeform' },
    truncation_policy: { mode: 'tokens', limit: 10_000 },
  };
  return {
    command: [
      join(binaries, 'codex'),
      ...['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', prompt],
    ],
    environment: { API_KEY: key },
    files: {
      'models.json': JSON.stringify({ models: [record] }),
      '.codex/config.toml': `model = "${model}"
model_provider = "tollgate"
model_reasoning_summary = "auto"
model_catalog_json = "${catalog}"

[model_providers.tollgate]
name = "Tollgate"
base_url = "${url}/v1"
env_key = "API_KEY"
wire_api = "responses"
`,
    },
  };
}
