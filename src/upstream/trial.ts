// Tests one model at an upstream: a short request for each feature that the catalog claims, whole
// and streamed, with each key. It uses the attempts of real requests, outside of health and books.
// The operator pays for it, so a key that fails a plain request is asked for nothing more.

import { saidWords } from '../core/failure.ts';
import { Fold } from '../core/fold.ts';
import type { UpstreamCredential } from '../core/model.ts';
import type { Candidate } from '../core/route.ts';
import {
  judgeTrial,
  reportedCounts,
  TRIAL_FEATURES,
  TRIAL_REQUESTS,
  TRIAL_TOKENS,
  type TrialFeature,
  type TrialResult,
} from '../core/trial.ts';
import type { Attempt, StartAttempt } from './attempt.ts';
import { plainRequest } from './probe.ts';

/** For all requests of a test together: the console waits for them. */
const TIME_MS = 50_000;

const KEYS_MAX = 8;

/** Tests a candidate with the keys of its upstream. Never rejects. */
export type Trial = (candidate: Candidate) => Promise<readonly TrialResult[]>;

/** `monotonic` is in milliseconds. */
export function createTrial(startAttempt: StartAttempt, monotonic: () => number): Trial {
  return async (candidate) => {
    const { model, timeouts, upstream } = candidate;
    const endsAt = monotonic() + TIME_MS;
    const results: TrialResult[] = [];

    /** In turn, because some servers answer one request at a time. */
    async function ask(credential: UpstreamCredential, feature: TrialFeature): Promise<boolean> {
      let isAnswered = false;
      for (const stream of [false, true]) {
        const startedAt = monotonic();
        const totalMs = Math.min(timeouts.totalMs, endsAt - startedAt);
        const start = () =>
          startAttempt({
            candidate: { ...candidate, timeouts: { ...timeouts, totalMs } },
            credential,
            request: { ...plainRequest(model.slug), stream, ...TRIAL_REQUESTS[feature] },
            maxOutputTokens: TRIAL_TOKENS,
            stream,
          });
        const shown = totalMs > 0 ? await read(start, feature) : { ...NOTHING, detail: TOO_LATE };
        const duration_ms = Math.round(monotonic() - startedAt);
        results.push({ credential: credential.id, feature, stream, ...shown, duration_ms });
        isAnswered ||= shown.ok;
      }
      return isAnswered;
    }

    let untested = TRIAL_FEATURES.filter((feature) => model.features.has(feature));
    for (const credential of upstream.credentials.slice(0, KEYS_MAX)) {
      if (!(await ask(credential, 'text'))) continue;
      for (const feature of untested) await ask(credential, feature);
      // Features do not depend on the key.
      untested = [];
    }
    return results;
  };
}

type Shown = Omit<TrialResult, 'credential' | 'feature' | 'stream' | 'duration_ms'>;

const NOTHING = { ok: false, usage: null, first_content_ms: null } as const;
const TOO_LATE = `not tested, because ${TIME_MS / 1_000} seconds were over`;

async function read(start: () => Attempt, feature: TrialFeature): Promise<Shown> {
  try {
    const attempt = start();
    const fold = new Fold();
    for (;;) {
      const { events, end } = await attempt.next();
      for (const event of events) fold.push(event);
      if (end === undefined) continue;
      const { firstContentMs } = attempt.times();
      const first_content_ms = firstContentMs === undefined ? null : Math.round(firstContentMs);
      if (end !== 'finished') {
        const detail = saidWords(end) || end.detail;
        return { ...NOTHING, first_content_ms, detail };
      }
      const answer = fold.answer();
      const usage = reportedCounts(answer);
      return { ...judgeTrial(feature, answer), usage, first_content_ms };
    }
  } catch {
    return { ...NOTHING, detail: 'the request could not be made' };
  }
}
