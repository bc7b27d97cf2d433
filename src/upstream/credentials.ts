// Selects among the credentials of an upstream and tracks their health per key. A key replaced in
// the catalog starts healthy; an unchanged one keeps its state when others change. Keys are
// compared here and never leave this module.

import type { Affinity } from '../core/conversation.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { CredentialState } from '../core/health.ts';
import type { Upstream, UpstreamCredential } from '../core/model.ts';
import {
  type CredentialStanding,
  type CredentialUser,
  createStanding,
  type Judgement,
  type Use,
} from '../core/standing.ts';

/** The right to use a credential once. */
export type CredentialLease = { readonly credential: UpstreamCredential; readonly use: Use };

export type Credentials = ReturnType<typeof createCredentials>;

/** One per upstream. Times are milliseconds of a monotonic clock. */
export function createCredentials() {
  /** By key. Healthy credentials have no entry. */
  const standings = new Map<string, CredentialStanding>();
  let turn = 0;

  const find = ({ apiKey }: UpstreamCredential): CredentialStanding | undefined =>
    standings.size === 0 ? undefined : standings.get(apiKey);
  const standingOf = (credential: UpstreamCredential): CredentialStanding => {
    const standing = find(credential) ?? createStanding();
    standings.set(credential.apiKey, standing);
    return standing;
  };

  return {
    /**
     * A usable credential or undefined: the next in turn, or the first in the order of `affinity`.
     * `avoid` is the id of one that has just failed.
     */
    pick(
      upstream: Upstream,
      user: CredentialUser,
      nowMs: number,
      avoid?: string,
      affinity?: Affinity,
    ): CredentialLease | undefined {
      const { credentials, coolDownMs } = upstream;
      // With a zero cool-down, the operator wants the credential to be used despite failures.
      const isForced = coolDownMs === 0;
      const from = turn;
      const ranked = affinity === undefined ? undefined : rank(upstream, affinity);
      for (let step = 0; step < credentials.length; step += 1) {
        const at = (from + step) % credentials.length;
        const credential = ranked?.[step] ?? credentials[at];
        if (credential === undefined || credential.id === avoid) continue;
        const standing = find(credential);
        const use = standing === undefined ? user : standing.use(user, nowMs, isForced);
        if (use === undefined) continue;
        if (ranked === undefined) turn = (at + 1) % credentials.length;
        return { credential, use };
      }
      return undefined;
    },
    /** The time until a credential is usable; 0 for now. */
    waitMs({ credentials, coolDownMs }: Upstream, user: CredentialUser, nowMs: number): number {
      if (standings.size === 0 || coolDownMs === 0) return 0;
      const waits = credentials.map((credential) => find(credential)?.waitMs(user, nowMs) ?? 0);
      return Math.min(...waits);
    },
    /** The upstream has answered with content. */
    accepted: ({ credential, use }: CredentialLease, nowMs: number): void =>
      find(credential)?.accepted(use, nowMs),
    /** The upstream answered 401, 402 or 403. */
    refused: (
      { credential, use }: CredentialLease,
      status: number | undefined,
      nowMs: number,
    ): void => standingOf(credential).refused(use, status, nowMs),
    /** The upstream answered 429, with its requested delay. */
    limited: ({ credential, use }: CredentialLease, pauseMs: number, nowMs: number): void =>
      standingOf(credential).limited(use, pauseMs, nowMs),
    /** Whether this credential has to be probed now; pass the outcome to `judged`. */
    takeProbe: (credential: UpstreamCredential): boolean => find(credential)?.takeProbe() ?? false,
    judged(
      { credentials, coolDownMs }: Upstream,
      { credential, model }: { readonly credential: UpstreamCredential; readonly model: string },
      outcome: 'finished' | UpstreamFailure,
      nowMs: number,
    ): Judgement {
      // Limits belong to keys; with a single key, the limit counts against the upstream.
      const limitMs = credentials.length > 1 ? coolDownMs : undefined;
      return find(credential)?.judged({ outcome, model, nowMs, limitMs }) ?? 'nothing';
    },
    /** `toUnixMs` converts times of this clock to Unix time. */
    states: (
      { credentials }: Upstream,
      nowMs: number,
      toUnixMs: (atMs: number) => number,
    ): CredentialState[] =>
      credentials.map((credential) => {
        const { id } = credential;
        const cooldown = find(credential)?.cooldown(nowMs);
        if (cooldown === undefined) return { id, state: 'ok' };
        const { status, untilMs } = cooldown;
        return {
          id,
          state: 'disabled',
          ...(status === undefined ? {} : { status }),
          ...(untilMs > nowMs ? { untilMs: toUnixMs(untilMs) } : {}),
        };
      }),
    /** Drops the keys that this upstream no longer has. */
    keep({ credentials }: Upstream): void {
      const kept = new Set(credentials.map(({ apiKey }) => apiKey));
      for (const apiKey of standings.keys()) if (!kept.has(apiKey)) standings.delete(apiKey);
    },
    /** Drops the state of all keys. */
    forget: (): void => standings.clear(),
  };
}

/** Rendezvous hashing: adding or removing a credential moves only its own conversations. */
function rank({ id, credentials }: Upstream, affinity: Affinity): readonly UpstreamCredential[] {
  if (credentials.length === 1) return credentials;
  return credentials
    .map((credential) => ({ credential, rank: affinity(`${id} ${credential.id}`) }))
    .toSorted((one, other) => other.rank - one.rank)
    .map(({ credential }) => credential);
}
