// The setup of both wire formats' tests: a gateway over the scripted upstream, and a second one
// with short timeouts, each with an account without limits.

import { type CatalogOptions, catalogFor } from './catalog.ts';
import { type Gateway, startGateway, type TestAccount } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const SLOW_MODELS = ['slow-first-byte-300', 'stall', 'stall-before'];

export type WireRig = {
  readonly upstream: Upstream;
  readonly gateway: Gateway;
  readonly account: TestAccount;
  /** An account of the gateway that loses its patience. */
  readonly hastyAccount: TestAccount;
  readonly close: () => Promise<void>;
};

/** `names` are behaviours of the upstream; `models` is merged into their entries in the catalog. */
export async function startWireRig(
  names: readonly string[],
  models: NonNullable<CatalogOptions['models']>,
): Promise<WireRig> {
  const upstream = await startUpstream();
  const [gateway, hasty] = await Promise.all([
    startGateway({
      catalog: catalogFor(upstream, names, {
        models: {
          ok: { aliases: ['alias-of-ok'] },
          plain: { features: ['tools', 'json', 'vision'] },
          ...models,
        },
      }),
    }),
    startGateway({
      catalog: catalogFor(upstream, SLOW_MODELS, {
        upstream: { first_byte_seconds: 1.2, idle_seconds: 0.6 },
      }),
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
    async close() {
      await gateway[Symbol.asyncDispose]();
      await hasty[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}
