// The health of one upstream credential: healthy, or in cooldown for one account or for all. A
// refusal may be caused by the caller's content, so it applies to that account alone until a probe
// of our own, without caller content, shows whether the credential is at fault.
// `upstream/credentials.ts` has one for each key with failures; health sends the probes.

import { FAILURES, type UpstreamFailure } from './failure.ts';
import { createLatestTwo } from './latest-two.ts';
import { putLast } from './recent.ts';

/** The cooldown of a credential that a probe found refused; it doubles up to the bound. */
const REFUSED_MS = 30_000;
const REFUSED_MAX_MS = 600_000;

/** The longest cooldown of a rate limit, even if the upstream requests more. */
const LIMITED_MAX_MS = 60_000;

/** The reported wait while a probe decides whether a cooldown is over: at most a few seconds. */
const TRIAL_WAIT_MS = 1_000;

/**
 * The minimum intervals between probes; the longer one applies to accounts refused before because
 * of their own content. Both bound the probes that callers can make the operator pay for.
 */
const PROBE_GAP_MS = 10_000;
const PROBE_GAP_OF_ACQUITTED_MS = 60_000;

/**
 * If no other account was served within this time before a cooldown, or since, it applies to all.
 */
const SERVED_MS = 10_000;

/** Accounts tracked; the oldest is evicted first. */
const ACCOUNTS_MAX = 256;

/** Replaced on every change, so an identical object means that nothing has changed. */
type Cooldown = {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly status: number | undefined;
  /** Consecutive probes that found it refused; 0 for a rate limit. */
  readonly refusals: number;
  /** 403 often concerns one model; absent if it concerns all. */
  readonly model?: string | undefined;
};

/** The account that uses the credential, and the model by the upstream's own name. */
export type CredentialUser = { readonly account: string; readonly model: string };

/** One use of the credential, with the cooldown that applied at its start. */
export type Use = CredentialUser & {
  readonly common?: Cooldown | undefined;
  readonly own?: Cooldown | undefined;
};

/** The result of a probe. `some`: it was accepted, but requests of two accounts are refused. */
export type Judgement = 'nothing' | 'refused' | 'some';

type Probed = {
  readonly outcome: 'finished' | UpstreamFailure;
  readonly model: string;
  readonly nowMs: number;
  /**
   * The cooldown of a rate limit that names none; absent if limits do not apply to the credential.
   */
  readonly limitMs: number | undefined;
};

export type CredentialStanding = ReturnType<typeof createStanding>;

/** Times are milliseconds of a monotonic clock. */
export function createStanding() {
  let common: Cooldown | undefined;
  const own = new Map<string, Cooldown>();
  /** Accounts whose refusals were caused by their own requests. */
  const acquitted = new Set<string>();
  const served = createLatestTwo();
  let probe: 'none' | 'wanted' | 'under_way' = 'none';
  let probedAt = Number.NEGATIVE_INFINITY;
  let wasAccepted = false;

  const binds = (model: string): boolean =>
    common !== undefined && (common.model === undefined || common.model === model);
  const waitMs = ({ account, model }: CredentialUser, nowMs: number): number => {
    let commonMs = 0;
    if (common !== undefined && binds(model)) {
      const isTrial = common.refusals > 0 && probe !== 'none';
      commonMs = isTrial ? TRIAL_WAIT_MS : common.untilMs - nowMs;
    }
    return Math.max(0, commonMs, (own.get(account)?.untilMs ?? nowMs) - nowMs);
  };
  const setOwn = (account: string, cooldown: Cooldown): void =>
    putLast(own, account, cooldown, ACCOUNTS_MAX);
  const isOfTwo = (isLimit: boolean, nowMs: number): boolean => {
    const inForce = [...own.values()].filter(
      ({ untilMs, status }) => untilMs > nowMs && (status === LIMITED) === isLimit,
    );
    return inForce.length > 1;
  };
  /** The credential was accepted, so earlier refusals were caused by the callers' own requests. */
  const acquit = (nowMs: number): Judgement => {
    const before = acquitted.size;
    for (const [account, { status }] of own) {
      if (status === LIMITED) continue;
      own.delete(account);
      acquitted.add(account);
      const [oldest] = acquitted.size > ACCOUNTS_MAX ? acquitted : [];
      if (oldest !== undefined) acquitted.delete(oldest);
    }
    wasAccepted = true;
    probedAt = nowMs;
    return before < 2 && acquitted.size >= 2 ? 'some' : 'nothing';
  };
  const condemn = ({ outcome, model, nowMs }: Probed): Judgement => {
    const isNews = common === undefined || common.refusals === 0;
    const refusals = (common?.refusals ?? 0) + 1;
    const [first] = own.values();
    const status = (outcome === 'finished' ? undefined : outcome.status) ?? first?.status;
    const isOfModel = status === 403 && (isNews || common?.model === model);
    const restMs = Math.min(REFUSED_MS * 2 ** Math.min(refusals - 1, 10), REFUSED_MAX_MS);
    const untilMs = nowMs + restMs;
    common = { refusals, sinceMs: nowMs, untilMs, status, ...(isOfModel ? { model } : {}) };
    own.clear();
    return isNews ? 'refused' : 'nothing';
  };

  return {
    waitMs,
    /** Undefined if it may not be used now, unless forced. */
    use(user: CredentialUser, nowMs: number, isForced: boolean): Use | undefined {
      const { account, model } = user;
      if (!isForced && waitMs(user, nowMs) > 0) return undefined;
      if (!isForced && common !== undefined && binds(model)) {
        if (common.refusals === 0) common = undefined;
        else probe = 'wanted';
      }
      return { account, model, common, own: own.get(account) };
    },
    accepted({ account, model, common: of, own: ofOwn }: Use, nowMs: number): void {
      served.note(account, nowMs);
      // A use that began before the cooldown proves nothing about it.
      if (common === of && binds(model)) common = undefined;
      if (own.get(account) === ofOwn) own.delete(account);
      // Limits may differ by account; refusals are over once another account is served.
      for (const [each, { status }] of own) if (status !== LIMITED) own.delete(each);
    },
    refused({ account, own: ofOwn }: Use, status: number | undefined, nowMs: number): void {
      const gapMs = acquitted.has(account) ? PROBE_GAP_OF_ACQUITTED_MS : PROBE_GAP_MS;
      const isSoon = probe === 'none' && nowMs < probedAt + gapMs;
      // It was accepted a moment ago, so this refusal is about the request.
      if (isSoon && wasAccepted) return;
      if (own.get(account) === ofOwn) {
        const untilMs = nowMs + REFUSED_MS;
        setOwn(account, { refusals: 1, sinceMs: nowMs, untilMs, status });
      }
      if (probe === 'none' && !isSoon) probe = 'wanted';
    },
    limited({ account, own: ofOwn }: Use, pauseMs: number, nowMs: number): void {
      if (own.get(account) !== ofOwn) return;
      const untilMs = nowMs + Math.min(pauseMs, LIMITED_MAX_MS);
      setOwn(account, { refusals: 0, sinceMs: nowMs, untilMs, status: LIMITED });
      const isFree = probe === 'none' && nowMs >= probedAt + PROBE_GAP_MS;
      if (isFree && isOfTwo(true, nowMs)) probe = 'wanted';
    },
    /** Whether a probe has to be sent now; pass its outcome to `judged`. */
    takeProbe(): boolean {
      if (probe !== 'wanted') return false;
      probe = 'under_way';
      return true;
    },
    judged(probed: Probed): Judgement {
      const { outcome, nowMs, limitMs } = probed;
      probe = 'none';
      probedAt = nowMs;
      wasAccepted = false;
      if (outcome === 'finished') {
        common = undefined;
        return acquit(nowMs);
      }
      if (FAILURES[outcome.class].fault === 'credential') return condemn(probed);
      if (outcome.class === 'rate_limited') {
        const judgement = acquit(nowMs);
        const pauseMs = Math.min(outcome.retryAfterMs ?? limitMs ?? 0, LIMITED_MAX_MS);
        const untilMs = nowMs + pauseMs;
        const limit = { refusals: 0, sinceMs: nowMs, untilMs, status: LIMITED };
        common = limitMs === undefined ? undefined : limit;
        return judgement;
      }
      // An inconclusive probe. Refusals of two accounts decide.
      if (common === undefined) return isOfTwo(false, nowMs) ? condemn(probed) : 'nothing';
      common = { ...common, untilMs: nowMs + PROBE_GAP_MS };
      return 'nothing';
    },
    /** The cooldown of all accounts, or of the only account served recently. */
    cooldown(nowMs: number): Cooldown | undefined {
      if (common !== undefined) return common;
      for (const [account, cooldown] of own) {
        const { sinceMs, untilMs } = cooldown;
        const isOnlyOne = served.othersAt(account) < sinceMs - SERVED_MS;
        if (untilMs > nowMs && isOnlyOne) return cooldown;
      }
      return undefined;
    },
  };
}

const LIMITED = 429;
