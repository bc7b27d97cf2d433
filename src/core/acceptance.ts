// Whether a model's placement accepts requests at all. A refused request is its caller's mistake,
// unless the upstream refuses what the gateway itself chose: the model's name, the path, the bound.
// No count of accounts proves that, because sign-up may be open, so a probe without their words
// decides (decision 0188). `core/breakers.ts` has one for each placement.

/** Refusals in a row after which a placement that has answered is doubted. */
const IN_ROW = 5;

/** The shortest time between two probes. It bounds what callers can make the operator pay. */
const AFTER_ACCEPTANCE_MS = 60_000;
const AFTER_NO_VERDICT_MS = 10_000;

/** How long a refused parameter is shown to operators. It is announced as often. */
const SHOWN_MS = 3_600_000;

/** Whose fault a refusal is; `probe`: ask the upstream without the caller's words. */
export type Blame = 'caller' | 'gateway' | 'probe';

export type Verdict = 'accepted' | 'refused' | 'none';

/** Times are milliseconds of a monotonic clock. */
export function createAcceptance() {
  let state: 'unknown' | 'accepted' | 'refused' = 'unknown';
  let inRow = 0;
  let nextProbeAt = Number.NEGATIVE_INFINITY;
  let named: { readonly parameter: string; readonly at: number } | undefined;

  const parameter = (nowMs: number): string | undefined =>
    named !== undefined && nowMs - named.at < SHOWN_MS ? named.parameter : undefined;

  return {
    /** The parameter that the upstream refused last, for operators. */
    parameter,
    /** Content has arrived for any account. */
    answered(): void {
      state = 'accepted';
      inRow = 0;
    },
    refused(nowMs: number): Blame {
      inRow += 1;
      if (state === 'refused') return 'gateway';
      const isDoubted = state === 'unknown' || inRow >= IN_ROW;
      return isDoubted && nowMs >= nextProbeAt ? 'probe' : 'caller';
    },
    /** Whether it counts as refused. An answer that came while the probe ran proves more. */
    judged(verdict: Verdict, nowMs: number): boolean {
      const isAccepted = verdict === 'accepted' || (verdict === 'refused' && inRow === 0);
      nextProbeAt = nowMs + (isAccepted ? AFTER_ACCEPTANCE_MS : AFTER_NO_VERDICT_MS);
      if (isAccepted) state = 'accepted';
      else if (verdict === 'refused') state = 'refused';
      if (verdict !== 'none') inRow = 0;
      return state === 'refused';
    },
    isRefused: (): boolean => state === 'refused',
    /** The upstream named a parameter that the gateway chose. True if operators should hear it. */
    names(refused: string, nowMs: number): boolean {
      if (parameter(nowMs) === refused) return false;
      named = { parameter: refused, at: nowMs };
      return true;
    },
    /** The catalog changed, and with it perhaps what is sent. */
    forget(): void {
      state = 'unknown';
      named = undefined;
    },
  };
}
