// Whose turn it is among the credentials of an upstream, and which of them rest because the upstream
// has refused them. What is known of one belongs to its key: a key that is exchanged in the catalog
// starts anew, and one that stays keeps its state whatever else changes. Keys are compared here, and
// go nowhere.

import type { Affinity } from '../core/conversation.ts';
import type { CredentialState } from '../core/health.ts';
import type { Credential, Upstream } from '../core/model.ts';

/** A refused credential rests for so long, then twice as long, and so on up to the bound. */
const REST_MS = 30_000;
const REST_MAX_MS = 600_000;

/** No rest for a rate limit is longer, whatever the upstream asks for. */
const LIMIT_REST_MAX_MS = 60_000;

/** What is told as the wait while one is being tried again: nobody knows when that ends. */
const TRIAL_WAIT_MS = 1_000;

/** What is known of a credential that does not work. Replaced with everything that happens to it. */
type Trouble = {
  readonly refusals: number;
  readonly untilMs: number;
  readonly status?: number | undefined;
  /** One request tries it again; nobody else does until that has an outcome. */
  readonly trying: boolean;
};

/** The right to use a credential once. */
export type Lease = { readonly credential: Credential; readonly trouble: Trouble | undefined };

export type Credentials = {
  /**
   * One that does not rest, or undefined: the next one, or the one that `affinity` ranks first.
   * `avoid` is the id of one that has just failed.
   */
  readonly pick: (
    upstream: Upstream,
    nowMs: number,
    choice?: { readonly avoid?: string | undefined; readonly affinity?: Affinity | undefined },
  ) => Lease | undefined;
  /** How long until there is one; 0 for now. */
  readonly waitMs: (upstream: Upstream, nowMs: number) => number;
  /** The upstream has answered with content. */
  readonly accepted: (lease: Lease) => void;
  /** Nothing can be said of the credential. */
  readonly released: (lease: Lease) => void;
  /** 401, 402, 403: it rests. */
  readonly refused: (lease: Lease, status: number | undefined, nowMs: number) => void;
  /** 429: it rests for so long. */
  readonly limited: (lease: Lease, restMs: number, nowMs: number) => void;
  /** `toUnixMs` turns a time of this clock into one that people read. */
  readonly states: (
    upstream: Upstream,
    nowMs: number,
    toUnixMs: (atMs: number) => number,
  ) => CredentialState[];
  /** Forgets the keys that this upstream no longer has. */
  readonly keep: (upstream: Upstream) => void;
  /** Forgets what is held against every one of them. */
  readonly forget: () => void;
};

/** Times are milliseconds of a clock that never jumps. One for each upstream. */
export function createCredentials(): Credentials {
  /** By key. One without trouble is not in it. */
  const troubles = new Map<string, Trouble>();
  let turn = 0;

  const troubleOf = ({ apiKey }: Credential): Trouble | undefined =>
    troubles.size === 0 ? undefined : troubles.get(apiKey);
  const set = ({ apiKey }: Credential, trouble: Trouble): Trouble => {
    troubles.set(apiKey, trouble);
    return trouble;
  };
  /** Many requests are refused at once; only the first of them has anything new to say. */
  const isNews = ({ credential, trouble }: Lease): boolean => troubleOf(credential) === trouble;

  return {
    pick(upstream, nowMs, { avoid, affinity } = {}) {
      const { credentials } = upstream;
      const from = turn;
      const ranked = affinity === undefined ? undefined : rank(upstream, affinity);
      for (let step = 0; step < credentials.length; step += 1) {
        const at = (from + step) % credentials.length;
        const credential = ranked?.[step] ?? credentials[at];
        if (credential === undefined || credential.id === avoid) continue;
        const trouble = troubleOf(credential);
        if (trouble !== undefined && (trouble.trying || nowMs < trouble.untilMs)) continue;
        if (ranked === undefined) turn = (at + 1) % credentials.length;
        if (trouble === undefined) return { credential, trouble };
        return { credential, trouble: set(credential, { ...trouble, trying: true }) };
      }
      return undefined;
    },
    waitMs({ credentials }, nowMs) {
      if (troubles.size === 0) return 0;
      const waits = credentials.map((credential) => {
        const trouble = troubleOf(credential);
        if (trouble === undefined) return 0;
        return trouble.trying ? TRIAL_WAIT_MS : Math.max(0, trouble.untilMs - nowMs);
      });
      return Math.min(...waits);
    },
    accepted(lease) {
      if (troubles.size === 0) return;
      const { credential } = lease;
      // A limit is met by what was asked last: an answer to an earlier question knows nothing of it.
      if (troubleOf(credential)?.status === 429 && !isNews(lease)) return;
      // Also where it was asked before the refusal: a 403 may be about what one customer has sent,
      // and then the answers to all others show that nothing is wrong with the credential.
      troubles.delete(credential.apiKey);
    },
    released(lease) {
      const { credential, trouble } = lease;
      if (trouble?.trying === true && isNews(lease)) set(credential, { ...trouble, trying: false });
    },
    refused(lease, status, nowMs) {
      if (!isNews(lease)) return;
      // A 403 is not always about the credential: some upstreams refuse so what a prompt says. So the
      // first rest is short, and such rests do not grow: a customer must not be able to take an
      // upstream from all others for long.
      const refusals = status === 403 ? 1 : (lease.trouble?.refusals ?? 0) + 1;
      const restMs = Math.min(REST_MS * 2 ** Math.min(refusals - 1, 10), REST_MAX_MS);
      set(lease.credential, { refusals, untilMs: nowMs + restMs, status, trying: false });
    },
    limited(lease, restMs, nowMs) {
      if (!isNews(lease)) return;
      const untilMs = nowMs + Math.min(restMs, LIMIT_REST_MAX_MS);
      const refusals = lease.trouble?.refusals ?? 0;
      set(lease.credential, { refusals, untilMs, status: 429, trying: false });
    },
    states: ({ credentials }, nowMs, toUnixMs) =>
      credentials.map((credential) => {
        const { id } = credential;
        const trouble = troubleOf(credential);
        if (trouble === undefined) return { id, state: 'ok' };
        const { status, untilMs } = trouble;
        return {
          id,
          state: 'disabled',
          ...(status === undefined ? {} : { status }),
          ...(untilMs > nowMs ? { untilMs: toUnixMs(untilMs) } : {}),
        };
      }),
    keep({ credentials }) {
      const kept = new Set(credentials.map(({ apiKey }) => apiKey));
      for (const apiKey of troubles.keys()) if (!kept.has(apiKey)) troubles.delete(apiKey);
    },
    forget: () => troubles.clear(),
  };
}

/** Rendezvous hashing: a credential that comes or goes moves no conversation but its own. */
function rank({ id, credentials }: Upstream, affinity: Affinity): readonly Credential[] {
  if (credentials.length === 1) return credentials;
  return credentials
    .map((credential) => ({ credential, rank: affinity(`${id} ${credential.id}`) }))
    .toSorted((one, other) => other.rank - one.rank)
    .map(({ credential }) => credential);
}
