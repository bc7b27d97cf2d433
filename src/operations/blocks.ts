// Sets and removes blocks of accounts, keys and networks. Called by `tollgate block …` and the
// console.

import { isoTime } from '../core/calendar.ts';
import { isWideNetwork, networkSize, normaliseNetwork } from '../identity/address.ts';
import type { Actor } from '../identity/audit.ts';
import type { Block } from '../identity/blocks.ts';
import type { OperationDependencies } from './dependencies.ts';
import { OperationError } from './error.ts';

type Targets = Pick<OperationDependencies, 'accounts' | 'keys' | 'blocks'>;

type BlockTarget = {
  readonly kind: Block['kind'];
  /** An account id or e-mail address, a key id or key, an address or a network in CIDR notation. */
  readonly value: string;
};

/**
 * `forMs` is the duration; absent: until it is removed. `confirm` repeats a network that is very
 * wide. Throws `IdentityError` and `confirmation_required`.
 */
export async function addBlock(
  parts: Targets,
  target: BlockTarget,
  terms: {
    readonly reason: string;
    readonly forMs?: number | undefined;
    readonly confirm?: string | undefined;
  },
  actor: Actor,
): Promise<Block> {
  const { kind, value } = await findTarget(parts, target);
  if (kind === 'network') requireConfirmed(value, terms.confirm);
  return parts.blocks.add(kind, value, terms, actor);
}

/** Throws `IdentityError`. */
export async function removeBlock(
  parts: Targets,
  target: BlockTarget,
  actor: Actor,
): Promise<Block> {
  const { kind, value } = await findTarget(parts, target);
  return parts.blocks.remove(kind, value, actor);
}

export function blockRecord(block: Block) {
  return {
    id: block.id,
    object: 'block',
    kind: block.kind,
    value: block.value,
    reason: block.reason,
    created_at: isoTime(block.createdAt),
    expires_at: block.expiresAt === null ? null : isoTime(block.expiresAt),
  } as const;
}

/** The reason and the end of a block. */
export function blockSummary(block: Block | undefined) {
  if (block === undefined) return null;
  const { reason, expiresAt } = block;
  return { reason, expires_at: expiresAt === null ? null : isoTime(expiresAt) } as const;
}

function requireConfirmed(value: string, confirm: string | undefined): void {
  const network = normaliseNetwork(value);
  // `add` refuses one that is not valid.
  if (network === undefined || !isWideNetwork(network)) return;
  if (confirm !== undefined && normaliseNetwork(confirm) === network) return;
  const size = networkSize(network);
  const addresses =
    size > 1n << 32n ? `2^${size.toString(2).length - 1}` : size.toLocaleString('en-US');
  throw new OperationError(
    'confirmation_required',
    `${network} has ${addresses} addresses, and all requests from them would be rejected. To block it anyway, repeat the network as the confirmation.`,
  );
}

/** The ids under which blocks are stored; throws where there is no such account or key. */
async function findTarget(
  { accounts, keys }: Targets,
  { kind, value }: BlockTarget,
): Promise<BlockTarget> {
  if (kind === 'account') return { kind, value: (await accounts.find(value)).id };
  if (kind === 'key') return { kind, value: (await keys.find(value)).id };
  return { kind, value };
}
