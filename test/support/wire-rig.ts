// The setup of the tests of all formats: a gateway over the scripted upstream, and a second one
// with short timeouts, each with an account without limits.

import { play, SAYS_HELLO } from './behaviours.ts';
import {
  type CatalogOptions,
  catalogFor,
  catalogOf,
  IMAGE_ADDRESSES,
  UPSTREAM_KEY,
} from './catalog.ts';
import { type EveryFormat, openStream } from './client.ts';
import { type Gateway, startGateway, type TestAccount } from './gateway.ts';
import { parseEvents, type SseEvent } from './sse.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Says nothing until its client has seen two heartbeats. */
export const SILENT = 'silent-at-first';

const PATIENT_MODELS = [SILENT, 'slow-first-byte-300'];

export type WireRig = {
  readonly upstream: Upstream;
  readonly gateway: Gateway;
  readonly account: TestAccount;
  /** An account of the gateway that loses its patience. */
  readonly hastyAccount: TestAccount;
  /** The events of a stream of `SILENT`, for `hastyAccount`. */
  readonly afterBeats: (format: EveryFormat) => Promise<SseEvent[]>;
  readonly close: () => Promise<void>;
};

/** `names` are behaviours of the upstream; `models` is merged into their entries in the catalog. */
export async function startWireRig(
  names: readonly string[],
  models: NonNullable<CatalogOptions['models']>,
): Promise<WireRig> {
  let beaten = Promise.withResolvers<void>();
  const upstream = await startUpstream({
    async [SILENT](exchange) {
      await beaten.promise;
      await play(SAYS_HELLO)(exchange);
    },
  });
  const [gateway, hasty] = await Promise.all([
    startGateway({
      catalog: `${catalogFor(upstream, names, {
        models: {
          ok: { aliases: ['alias-of-ok'] },
          plain: { features: ['tools', 'json', 'vision'] },
          ...models,
        },
      })}${IMAGE_ADDRESSES}`,
    }),
    startGateway({
      catalog: hastyCatalog(upstream),
      environment: { HEARTBEAT_SECONDS: '0.05', SILENT_COMMIT_SECONDS: '0.1' },
    }),
  ]);
  const [account, hastyAccount] = await Promise.all([
    gateway.createAccount({ plan: 'business' }),
    hasty.createAccount({ plan: 'business' }),
  ]);
  return {
    upstream,
    gateway,
    account,
    hastyAccount,
    async afterBeats(format) {
      beaten = Promise.withResolvers<void>();
      const response = await openStream(hastyAccount, format, SILENT);
      const decoder = new TextDecoder();
      let text = '';
      for await (const bytes of response.body ?? []) {
        text += decoder.decode(bytes, { stream: true });
        // One or two events begin the answer.
        if (parseEvents(text).length > 3) beaten.resolve();
      }
      return parseEvents(text);
    },
    async close() {
      await gateway[Symbol.asyncDispose]();
      await hasty[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

/** Two upstreams are given up, after many heartbeats, and another one never. */
function hastyCatalog({ baseUrl }: Upstream): string {
  const common = {
    dialect: 'chat',
    base_url: baseUrl,
    api_key: UPSTREAM_KEY,
    cool_down_seconds: 0,
  };
  const by = (upstream: string, slugs: readonly string[]) =>
    slugs.map((slug) => ({ slug, served_by: [{ upstream, model: slug }] }));
  return catalogOf({
    upstreams: [
      // The second time limit leaves no time for another attempt.
      { id: 'mute', ...common, first_byte_seconds: 3, total_seconds: 3 },
      { id: 'silent', ...common, idle_seconds: 3 },
      { id: 'patient', ...common },
    ],
    models: [
      ...by('mute', ['stall-before']),
      ...by('silent', ['stall']),
      ...by('patient', PATIENT_MODELS),
    ],
  });
}
