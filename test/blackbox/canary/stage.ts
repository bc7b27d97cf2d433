// The setup of the canary test: every failure of the matrix and every kind of answer as a model
// with its own upstream, with canaries in all names and responses.

import { type Behaviour, behaviourFor, play } from '../../support/behaviours.ts';
import { catalogOf, IMAGE_ADDRESSES, ROOMY_PLAN } from '../../support/catalog.ts';
import type { DeadPorts } from '../../support/dead-ports.ts';
import { createFaults } from '../../support/faults.ts';
import type { RecordedRequest } from '../../support/recorded-request.ts';
import { USAGE } from '../../support/render.ts';
import type { Upstream } from '../../support/upstream.ts';
import { ROWS } from '../failover/faults.ts';
import { LONG_TIMERS, SHORT_TIMERS } from '../failover/world.ts';
import type { Canaries } from './canaries.ts';

const SAYS_ALL = 'says-all';

/** Answers that are no failures, some of them odd. */
const ANSWERS = [
  ...[SAYS_ALL, 'ok', 'no-usage', 'absurd-usage', 'zero-usage', 'finish-length', 'content-filter'],
  ...['no-content', 'json-for-stream', 'crlf', 'two-tools', 'late-tool-name', 'late-exhaustion'],
];

export type StagedModel = {
  readonly slug: string;
  readonly dialect: 'chat' | 'messages';
  /** What its upstream does. */
  readonly name: string;
  readonly stalls: boolean;
  readonly door?: keyof DeadPorts['urls'];
};

const DIALECTS = ['chat', 'messages'] as const;

export const MODELS: readonly StagedModel[] = DIALECTS.flatMap((dialect) => [
  ...ANSWERS.map((name) => ({ slug: `${name}-${dialect}`, dialect, name, stalls: false })),
  ...ROWS.map(({ name, stalls = false, door }) => ({
    slug: `${name}-${dialect}`,
    dialect,
    name,
    stalls,
    ...(door === undefined ? {} : { door }),
  })),
]);

/** Behaviours under the names that the catalog has for them: those of the upstream are a secret. */
export function behavioursOf(
  canaries: Canaries,
  delivered: (request: RecordedRequest) => boolean,
): Readonly<Record<string, Behaviour>> {
  const faults = createFaults({ canary: canaries.upstreamWords, delivered });
  const saysAll = play({
    pieces: [
      { reasoning: canaries.modelReasoning },
      { text: canaries.modelText },
      { tool: 0, id: canaries.modelToolId, name: canaries.modelToolName, json: '' },
      { tool: 0, json: JSON.stringify({ city: canaries.modelToolArguments }) },
    ],
    finish: 'tool_calls',
    usage: USAGE,
  });
  return Object.fromEntries(
    MODELS.map(({ name }) => [
      upstreamName(canaries, name),
      name === SAYS_ALL ? saysAll : (faults[name] ?? behaviourFor(name)),
    ]),
  );
}

function upstreamName({ upstreamModel }: Canaries, name: string): string {
  return `${name}.${upstreamModel}`;
}

export function stagedCatalog(canaries: Canaries, upstream: Upstream, ports: DeadPorts): string {
  const { upstreamId, upstreamPath, upstreamKeyOne, upstreamKeyTwo } = canaries;
  const { awsKeyId, awsSecret, awsToken } = canaries;
  const aws = {
    ...{ region: 'r', access_key_id: awsKeyId, secret_access_key: awsSecret },
    session_token: awsToken,
  };
  const catalog = catalogOf({
    upstreams: MODELS.map(({ slug, dialect, name, stalls, door }) => {
      const site = upstream.site(`${upstreamPath}-${slug}`);
      const { chat, messages } = { chat: site.baseUrl, messages: site.messagesBaseUrl };
      const scripted = dialect === 'chat' ? chat : messages;
      const address = door === undefined ? undefined : `${ports.urls[door]}/${upstreamPath}`;
      return {
        id: `${upstreamId}.${slug}`.slice(0, 64),
        dialect,
        base_url: address ?? scripted,
        ...(dialect === 'messages' && ANSWERS.includes(name)
          ? { aws }
          : { api_keys: [upstreamKeyOne, upstreamKeyTwo] }),
        transport: dialect === 'chat' ? 'sockets' : 'fetch',
        ...(stalls ? SHORT_TIMERS : LONG_TIMERS),
      };
    }),
    models: MODELS.map(({ slug, dialect, name }) => ({
      slug,
      served_by: [
        {
          upstream: `${upstreamId}.${slug}`.slice(0, 64),
          model: upstreamName(canaries, name),
        },
      ],
      // Those of one dialect fail to the end, those of the other have a fallback.
      ...(dialect === 'messages' && !ANSWERS.includes(name) ? { fallbacks: ['ok-chat'] } : {}),
    })),
    plans: { roomy: ROOMY_PLAN, tight: { ...ROOMY_PLAN, requests_per_minute: 1 } },
  });
  return `${catalog}${IMAGE_ADDRESSES}`;
}
