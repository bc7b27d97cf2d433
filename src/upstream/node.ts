// The state of one upstream, and the probes sent to it. `health.ts` has one for each upstream of
// the catalog; `permit.ts` reports the outcomes of requests.

import type { Awaitable } from '../async/awaitable.ts';
import type { Verdict } from '../core/acceptance.ts';
import type { Alert } from '../core/alert.ts';
import { type Breakers, createBreakers } from '../core/breakers.ts';
import { SHORT_DELAY_MS } from '../core/failover.ts';
import { FAILURES, saidWords, type UpstreamFailure } from '../core/failure.ts';
import type { Upstream, UpstreamCredential } from '../core/model.ts';
import { createRetryBudget } from '../core/retry-budget.ts';
import type { Candidate } from '../core/route.ts';
import { createCredentials } from './credentials.ts';
import { createGate } from './gate.ts';
import type { Probe } from './probe.ts';
import type { StartTimer } from './timer.ts';

export type NodeDependencies = {
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  readonly startTimer: StartTimer;
  readonly probe: Probe;
  readonly alert: (alert: Alert) => void;
};

export type UpstreamNode = ReturnType<typeof createNode>;

export function createNode(place: string, dependencies: NodeDependencies) {
  const { monotonic, startTimer, probe, alert } = dependencies;
  /** By the slug of the model served. */
  const breakers = new Map<string, Breakers>();
  const credentials = createCredentials();

  const breakersOf = ({ model: { slug } }: Candidate): Breakers =>
    breakers.getOrInsertComputed(slug, createBreakers);

  const judging = new Map<Breakers, Promise<boolean>>();
  /** Whether the upstream refuses the gateway's own request, too. */
  const judge = async (candidate: Candidate, credential: UpstreamCredential): Promise<boolean> => {
    const ofModel = breakersOf(candidate);
    const outcome = await probe(candidate, credential, 'acceptance');
    judging.delete(ofModel);
    const nowMs = monotonic();
    if (!ofModel.acceptance.judged(verdictOf(outcome), nowMs)) return false;
    const { coolDownMs } = candidate.upstream;
    // With a zero cool-down, the operator wants it to be called despite failures.
    if (coolDownMs === 0 || ofModel.refuse({ nowMs, coolDownMs })) {
      alert(breakerOpened(candidate, outcome));
    }
    return true;
  };
  /** Whether a refused request is the gateway's fault: the catalog's, not its caller's. */
  const blame = (candidate: Candidate, credential: UpstreamCredential): Awaitable<boolean> => {
    const ofModel = breakersOf(candidate);
    const whose = ofModel.acceptance.refused(monotonic());
    const asked = judging.get(ofModel);
    if (asked !== undefined) return asked;
    if (whose !== 'probe') return whose === 'gateway';
    const judged = judge(candidate, credential);
    judging.set(ofModel, judged);
    return judged;
  };

  /** Sends any probes that are due. Call it after each event that may cause one. */
  const settleDoubts = (candidate: Candidate, credential: UpstreamCredential): void => {
    const ofModel = breakersOf(candidate);
    const isCredential = credentials.takeProbe(credential);
    const isModel = ofModel.takeProbe();
    if (isCredential || isModel) void decide(candidate, credential, isModel ? ofModel : undefined);
  };
  const decide = async (
    candidate: Candidate,
    credential: UpstreamCredential,
    ofModel: Breakers | undefined,
  ): Promise<void> => {
    const wasRefused = ofModel?.acceptance.isRefused() === true;
    const outcome = await probe(candidate, credential, wasRefused ? 'acceptance' : 'health');
    const { upstream, upstreamModel } = candidate;
    const nowMs = monotonic();
    const probed = { credential, model: upstreamModel };
    const judgement = credentials.judged(upstream, probed, outcome, nowMs);
    if (judgement !== 'nothing') {
      const failure = outcome === 'finished' || judgement === 'some' ? undefined : outcome;
      // Nothing was sent, so there is no status.
      const isUnsent = failure?.class === 'credential' && failure.phase === 'connect';
      alert({
        kind: 'credential_refused',
        upstream: upstream.id,
        credential: credential.id,
        ...(failure?.status === undefined ? {} : { status: failure.status }),
        said: failure?.said && saidWords(failure),
        ...(isUnsent ? { reason: failure.detail } : {}),
        ...(judgement === 'some' ? { some: true as const } : {}),
      });
    }
    if (ofModel === undefined) return;
    const { coolDownMs } = upstream;
    const retryAfterMs = outcome === 'finished' ? undefined : outcome.retryAfterMs;
    const isRefused = wasRefused && verdictOf(outcome) === 'refused';
    // With a zero cool-down, the operator wants it to be called despite failures.
    const isWell =
      outcome === 'finished' || coolDownMs === 0 || !(isRefused || isOfAll(upstream, outcome));
    if (outcome === 'finished') ofModel.acceptance.answered();
    if (ofModel.judged(isWell, { nowMs, coolDownMs, retryAfterMs })) {
      alert(breakerOpened(candidate, outcome));
    }
  };

  return {
    place,
    breakers,
    breakersOf,
    credentials,
    settleDoubts,
    blame,
    monotonic,
    alert,
    gate: createGate(startTimer, monotonic),
    budget: createRetryBudget(),
  };
}

function breakerOpened(
  { upstream, model }: Candidate,
  outcome: 'finished' | UpstreamFailure,
): Alert {
  const place = { upstream: upstream.id, model: model.slug };
  const said = outcome === 'finished' ? undefined : outcome.said && saidWords(outcome);
  return { kind: 'breaker_opened', ...place, said };
}

function verdictOf(outcome: 'finished' | UpstreamFailure): Verdict {
  if (outcome === 'finished') return 'accepted';
  return isRefusal(outcome) ? 'refused' : 'none';
}

/** Whether the upstream refuses the request, and not our key or its rate. */
export function isRefusal({ class: kind }: UpstreamFailure): boolean {
  return kind === 'bad_request' || kind === 'mismatch';
}

/** Whether the failure of a probe is one of all requests. Our words need no special feature. */
function isOfAll(upstream: Upstream, failure: UpstreamFailure): boolean {
  return failure.class === 'mismatch' || isAgainst(upstream, failure);
}

/** Whether a failure counts against the upstream for the requested model. */
export function isAgainst({ credentials }: Upstream, failure: UpstreamFailure): boolean {
  // Limits belong to keys.
  if (failure.class === 'rate_limited' && credentials.length > 1) return false;
  return FAILURES[failure.class].fault === 'upstream' && !isPassing(failure);
}

/**
 * Whether a failure says nothing about the next request: an idle connection was closed, or a limit
 * ends shortly. The route waits for the latter, and an open breaker would refuse waiting requests.
 */
function isPassing({ class: kind, onKeptConnection, retryAfterMs }: UpstreamFailure): boolean {
  if (onKeptConnection === true) return true;
  return kind === 'rate_limited' && retryAfterMs !== undefined && retryAfterMs <= SHORT_DELAY_MS;
}
