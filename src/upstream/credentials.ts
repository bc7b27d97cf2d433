// Whose turn it is among the credentials of an upstream, and which of them an account may use. What
// is known of one belongs to its key: a key that is exchanged in the catalog starts healthy, and one
// that stays keeps its state when others change. Keys are compared here, and go nowhere.

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

/** Times are milliseconds of a clock that never jumps. One for each upstream. */
export function createCredentials() {
  /** By key. One without trouble is not in it. */
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
     * One that may be used, or undefined: the next one, or the one that `affinity` ranks first.
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
      // Without a cooldown the operator wants it to be used after any failure.
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
    /** How long until there is one; 0 for now. */
    waitMs({ credentials, coolDownMs }: Upstream, user: CredentialUser, nowMs: number): number {
      if (standings.size === 0 || coolDownMs === 0) return 0;
      const waits = credentials.map((credential) => find(credential)?.waitMs(user, nowMs) ?? 0);
      return Math.min(...waits);
    },
    /** The upstream has answered with content. */
    accepted: ({ credential, use }: CredentialLease, nowMs: number): void =>
      find(credential)?.accepted(use, nowMs),
    /** 401, 402, 403. */
    refused: (
      { credential, use }: CredentialLease,
      status: number | undefined,
      nowMs: number,
    ): void => standingOf(credential).refused(use, status, nowMs),
    /** 429, with the pause that the upstream wants. */
    limited: ({ credential, use }: CredentialLease, pauseMs: number, nowMs: number): void =>
      standingOf(credential).limited(use, pauseMs, nowMs),
    /** Whether this one has to be probed now; then `judged` takes the outcome. */
    takeProbe: (credential: UpstreamCredential): boolean => find(credential)?.takeProbe() ?? false,
    judged(
      { credentials, coolDownMs }: Upstream,
      { credential, model }: { readonly credential: UpstreamCredential; readonly model: string },
      outcome: 'finished' | UpstreamFailure,
      nowMs: number,
    ): Judgement {
      // Limits belong to keys; where there is one, they are the upstream's.
      const limitMs = credentials.length > 1 ? coolDownMs : undefined;
      return find(credential)?.judged({ outcome, model, nowMs, limitMs }) ?? 'nothing';
    },
    /** `toUnixMs` turns a time of this clock into one that people read. */
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
    /** Forgets the keys that this upstream no longer has. */
    keep({ credentials }: Upstream): void {
      const kept = new Set(credentials.map(({ apiKey }) => apiKey));
      for (const apiKey of standings.keys()) if (!kept.has(apiKey)) standings.delete(apiKey);
    },
    /** Forgets what is known of every one of them. */
    forget: (): void => standings.clear(),
  };
}

/** Rendezvous hashing: a credential that comes or goes moves no conversation but its own. */
function rank({ id, credentials }: Upstream, affinity: Affinity): readonly UpstreamCredential[] {
  if (credentials.length === 1) return credentials;
  return credentials
    .map((credential) => ({ credential, rank: affinity(`${id} ${credential.id}`) }))
    .toSorted((one, other) => other.rank - one.rank)
    .map(({ credential }) => credential);
}
