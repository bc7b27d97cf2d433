// Shared by all agent runs: the scripted upstream, the gateway, the tap in front of it and access
// to the ledger. `perform` runs one agent once and collects what each side observed. Runs are
// sequential, because the tap and the upstream cannot tell runs apart.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openBooks } from '../../test/support/books.ts';
import { catalogFor, LARGE_PLAN } from '../../test/support/catalog.ts';
import { type EveryFormat, get } from '../../test/support/client.ts';
import type { Story } from '../../test/support/explain.ts';
import { runCommand, startGateway, type TestAccount } from '../../test/support/gateway.ts';
import type { WireDialect } from '../../test/support/render.ts';
import { type RecordedRequest, startUpstream, waitUntil } from '../../test/support/upstream.ts';
import { strictBehaviours } from '../../test/vendors/scripted-anthropic.ts';
import type { Agent } from './agents.ts';
import { launch, makeFolders, type Ran } from './launch.ts';

import { type Passed, startTap } from './tap.ts';

const LIMIT_MS = 60_000;

/** Windows that every agent's prompt exceeds, and that only its `max_tokens` does. */
const WINDOWS = {
  'small-window': { context_window: 1_000, max_output: 500 },
  'middle-window': { context_window: 40_000, max_output: 32_000 },
};

const MODELS = [
  ...['reasoning', 'reads-a-note', 'adds-a-note'],
  ...['cut-once', 'slow-tokens-100-50', 'status-503-times-4'],
  ...Object.keys(WINDOWS),
];

const PLANS = {
  roomy: LARGE_PLAN,
  /** Any prompt is above what is left of the day. */
  capped: { ...LARGE_PLAN, daily_tokens: 10 },
  single: { ...LARGE_PLAN, concurrent_requests: 1 },
} as const;

export type Task = {
  readonly agent: Agent;
  readonly format: EveryFormat;
  readonly model: string;
  /** What is asked; `directory` is the agent's working folder. */
  readonly prompt: (directory: string) => string;
  /** Texts in the working folder, by name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly plan?: keyof typeof PLANS;
  /** In service tokens. */
  readonly credit?: number;
  /** Added to what the agent is started with. */
  readonly environment?: (key: string) => Readonly<Record<string, string>>;
};

/** A request for an answer, and its story where the gateway took it on. */
export type Generation = Passed & { readonly story: Story | undefined };

export type Seen = {
  readonly directory: string;
  readonly ran: Ran;
  readonly generations: readonly Generation[];
  /** All other requests of the agent. */
  readonly others: readonly Passed[];
  readonly upstream: readonly RecordedRequest[];
  /** Why the upstream refused requests, or dropped thinking. */
  readonly refusals: readonly string[];
  /** Once everything had ended: requests in progress, and service tokens that are still held. */
  readonly inFlight: unknown;
  readonly reserved: unknown;
};

export type Stage = {
  readonly perform: (task: Task) => Promise<Seen>;
  /** Whether `tollgate doctor` finds that every balance is the sum of its entries. */
  readonly ledgerAgrees: () => Promise<boolean>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

type Kind = {
  readonly dialect: WireDialect;
  readonly profile?: string;
  /** Whether the upstream has the rules of Anthropic's newest models. */
  readonly strict?: true;
};

const KINDS: Readonly<Record<string, Kind>> = {
  chat: { dialect: 'chat' },
  messages: { dialect: 'messages' },
  responses: { dialect: 'responses' },
  'openai-6': { dialect: 'responses', profile: 'openai-6' },
  'anthropic-5.5': { dialect: 'messages', profile: 'anthropic-5.5', strict: true },
};

/** The upstreams by name: dialects, and profiles that ask more of the gateway. */
export const UPSTREAMS: readonly string[] = Object.keys(KINDS);

/** `keep` leaves the homes of the agents, each with all that was seen of its run. */
export async function openStage(name: string, keep: boolean): Promise<Stage> {
  const kind = KINDS[name];
  if (kind === undefined) throw new Error(`no upstream is called ${name}; there are ${UPSTREAMS}`);
  const { dialect, profile, strict } = kind;
  const refusals: string[] = [];
  const upstream = await startUpstream(strict ? strictBehaviours(MODELS, refusals) : {});
  const gateway = await startGateway({
    catalog: catalogFor(upstream, MODELS, {
      dialect,
      upstream: profile === undefined ? {} : { profile },
      plans: PLANS,
      models: WINDOWS,
    }),
  });
  const books = openBooks(gateway);
  const tap = startTap(gateway.url);

  async function perform(task: Task): Promise<Seen> {
    const { agent, format, model, plan = 'roomy', credit = 1_000_000 } = task;
    const describe = agent.formats[format];
    if (describe === undefined) throw new Error(`${agent.name} does not speak ${format}`);
    const account = await gateway.createAccount({ plan, credit });
    const folders = await makeFolders(task.files ?? {});
    const { home, directory } = folders;
    tap.clear();
    refusals.length = 0;
    const earlier = upstream.requests.length;
    const what = describe(
      { home, directory, url: tap.url, key: account.key, model },
      task.prompt(directory),
    );
    const environment = { ...what.environment, ...task.environment?.(account.key) };
    const ran = await launch(folders, { ...what, environment }, LIMIT_MS);
    const rest = await untilQuiet(account);
    const passed = tap.passed();
    const seen: Seen = {
      directory,
      ran,
      generations: await Promise.all(
        passed.filter(isGeneration).map(async (each) => ({
          ...each,
          story: await books.story(each.requestId ?? null),
        })),
      ),
      others: passed.filter((each) => !isGeneration(each)),
      upstream: upstream.requests.slice(earlier),
      refusals: [...refusals],
      ...rest,
    };
    if (keep) await Bun.write(join(home, 'seen.json'), JSON.stringify(seen, null, 2));
    else await rm(home, { recursive: true, force: true });
    return seen;
  }

  async function close(): Promise<void> {
    await tap.stop();
    await books.close();
    await gateway[Symbol.asyncDispose]();
    await upstream.close();
  }

  async function ledgerAgrees(): Promise<boolean> {
    const { stdout } = await runCommand(gateway.directory, {}, ['doctor', '--json']);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean }[] };
    return checks.some(({ name, ok }) => name === 'ledger' && ok);
  }

  return { perform, ledgerAgrees, [Symbol.asyncDispose]: close };
}

function isGeneration({ method, path }: Passed): boolean {
  return method === 'POST' && /\/(?:chat\/completions|messages|responses)$/.test(path);
}

/** Waits until the account has no request in progress; returns what is never released. */
async function untilQuiet(account: TestAccount): Promise<Pick<Seen, 'inFlight' | 'reserved'>> {
  const look = async () => {
    const { json } = await get(account, '/v1/account');
    const usage = json['usage'] as Record<string, unknown>;
    const balance = json['balance'] as Record<string, unknown>;
    return { inFlight: usage['in_flight'], reserved: balance['reserved'] };
  };
  const isQuiet = async () => {
    const { inFlight, reserved } = await look();
    return inFlight === 0 && reserved === '0';
  };
  await waitUntil(isQuiet).catch(() => undefined);
  return look();
}
