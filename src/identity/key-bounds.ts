// The models and networks that a key is bound to, and its pause: read from its row when it is
// authenticated, checked on every request. Pure. Its budget is the ledger's.

import { GatewayError } from '../core/error.ts';
import type { apiKeys, KeyPause } from '../store/tables.ts';
import { createNetworkSet, type NetworkSet, normaliseNetwork } from './address.ts';
import { IdentityError } from './error.ts';

export type KeyBounds = {
  /** Slugs; absent: every model of the plan. */
  readonly models?: ReadonlySet<string>;
  /** Absent: any network. */
  readonly networks?: NetworkSet;
  readonly paused?: KeyPause;
};

const NETWORKS_MAX = 50;
const MODELS_MAX = 200;

type Columns = Pick<
  typeof apiKeys.$inferSelect,
  'models' | 'networks' | 'pausedAt' | 'pausedReason'
>;

/** Undefined for a key without bounds. */
export function keyBounds(row: Columns): KeyBounds | undefined {
  const { models, networks, pausedAt, pausedReason } = row;
  if (models === null && networks === null && pausedAt === null) return undefined;
  return {
    ...(models !== null && { models: new Set(listOf(models)) }),
    ...(networks !== null && { networks: createNetworkSet(listOf(networks)) }),
    ...(pausedAt !== null && { paused: pausedReason ?? 'operator' }),
  };
}

/** A list as it is stored: null for an absent one. */
export function listOf(stored: string): readonly string[];
export function listOf(stored: string | null): readonly string[] | null;
export function listOf(stored: string | null): readonly string[] | null {
  return stored === null ? null : JSON.parse(stored);
}

/** Normalizes networks in CIDR notation; null: any. Throws `invalid_networks`. */
export function normaliseNetworks(networks: readonly string[] | null): string | null {
  if (networks === null) return null;
  const normal = networks.map((network) => {
    const found = normaliseNetwork(network);
    if (found !== undefined) return found;
    throw new IdentityError(
      'invalid_networks',
      `"${network.slice(0, 60)}" is not a network. Write an address or a CIDR range: 192.0.2.7, 192.0.2.0/24, 2001:db8::/32.`,
    );
  });
  const distinct = [...new Set(normal)];
  if (distinct.length <= NETWORKS_MAX) return JSON.stringify(distinct);
  throw new IdentityError('invalid_networks', `A key has at most ${NETWORKS_MAX} networks.`);
}

/**
 * The slugs of models, aliases resolved: an alias that later names another model does not widen the
 * key. Null: all of them. Throws `invalid_models`.
 */
export function normaliseModels(
  models: readonly string[] | null,
  resolve: (slugOrAlias: string) => { readonly slug: string } | undefined,
): string | null {
  if (models === null) return null;
  const slugs = models.map((model) => {
    const found = resolve(model);
    if (found !== undefined) return found.slug;
    throw new IdentityError('invalid_models', `There is no model "${model.slice(0, 60)}".`);
  });
  const distinct = [...new Set(slugs)];
  if (distinct.length <= MODELS_MAX) return JSON.stringify(distinct);
  throw new IdentityError('invalid_models', `A key has at most ${MODELS_MAX} models.`);
}

/** Throws `model_not_allowed_for_key`. */
export function requireForKey(bounds: KeyBounds | undefined, slug: string): void {
  if (bounds?.models === undefined || bounds.models.has(slug)) return;
  throw new GatewayError('model_not_allowed_for_key', { param: 'model' });
}
