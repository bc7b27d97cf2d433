// A probe: the shortest possible generation, without caller content. Callers cannot influence it,
// so it decides whether their failures are the upstream's fault. Listing models would be cheaper,
// but several vendors answer that without a key or with an empty balance. The operator pays for
// probes; `core/standing.ts` and `core/breakers.ts` bound their number.

import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationRequest } from '../core/generation.ts';
import type { UpstreamCredential } from '../core/model.ts';
import type { Candidate } from '../core/route.ts';
import type { StartAttempt } from './attempt.ts';
import { isAnswer } from './content.ts';

/** Some reasoning models and gateways refuse a bound of one token. */
const OUTPUT_TOKENS = 16;

/**
 * health      whether the upstream answers, with the least output
 * acceptance  whether it accepts what the gateway sends, the model's own bound included; ends at
 *             the first content, so that it costs as little
 */
export type ProbePurpose = 'health' | 'acceptance';

/** An upstream that takes longer than this counts as failed. */
const PATIENCE_MS = 10_000;

export const PROBE_TEXT = 'ping';

/** Resolves to how the answer ended; never rejects. */
export type Probe = (
  candidate: Candidate,
  credential: UpstreamCredential,
  purpose?: ProbePurpose,
) => Promise<'finished' | UpstreamFailure>;

export function createProbe(startAttempt: StartAttempt): Probe {
  return async (candidate, credential, purpose = 'health') => {
    const { timeouts } = candidate;
    const totalMs = Math.min(timeouts.totalMs, PATIENCE_MS);
    try {
      const attempt = startAttempt({
        candidate: { ...candidate, timeouts: { ...timeouts, totalMs } },
        credential,
        request: plainRequest(candidate.model.slug),
        maxOutputTokens: purpose === 'health' ? OUTPUT_TOKENS : candidate.model.maxOutput,
        stream: true,
        newConnection: true,
      });
      for (;;) {
        const { events, end } = await attempt.next();
        if (end !== undefined) return end;
        if (purpose === 'acceptance' && events.some(isAnswer)) {
          attempt.abort();
          return 'finished';
        }
      }
    } catch {
      return { class: 'cut', detail: 'the probe could not be made' };
    }
  };
}

/** A request without caller content. */
export function plainRequest(model: string): GenerationRequest {
  return {
    model,
    system: '',
    turns: [{ role: 'user', parts: [{ kind: 'text', text: PROBE_TEXT }] }],
    stop: [],
    tools: [],
    json: false,
    stream: true,
    includeUsage: true,
  };
}
