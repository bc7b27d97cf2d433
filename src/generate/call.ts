// What a generation request carries on its way through the pipeline, and what the pipeline is built
// from. Types alone.

import type { ClientFormatName } from '../core/admit.ts';
import type { GenerationRequest, Outcome, UsageDoubt } from '../core/generation.ts';
import type { RandomBytes } from '../core/id.ts';
import type { Catalog, Model } from '../core/model.ts';
import type { IncidentLimits, Plan } from '../core/plan.ts';
import type { Price } from '../core/price.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { Ledger } from '../ledger/contract.ts';
import type { AccountLimits } from '../limits/limits.ts';
import type { ReasoningStore } from '../reasoning/reasoning.ts';
import type { StartAttempt } from '../upstream/attempt.ts';
import type { ClientFormat, ParsedBody } from '../wire/format.ts';
import type { InFlight } from './in-flight.ts';
import type { Tokenizer } from './tokenizer.ts';

export type GenerateDependencies = {
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly random: () => number;
  readonly randomBytes: RandomBytes;
  readonly catalog: () => Catalog;
  readonly incidentOf: (modelSlug: string) => IncidentLimits | undefined;
  readonly limits: AccountLimits;
  readonly ledger: Ledger;
  readonly tokenizer: Tokenizer;
  /** Absent where the operator has switched it off. */
  readonly reasoning: ReasoningStore | undefined;
  readonly startAttempt: StartAttempt;
  readonly inFlight: InFlight;
  readonly report: (event: RequestReport) => void;
  /** For what an operator has to do something about, such as a credential that is refused. */
  readonly alert: (message: string) => void;
  /** For errors that nobody threw on purpose, after the commit point. */
  readonly onInternal: (requestId: string, error: unknown) => void;
  readonly heartbeatMs: number;
  readonly silentCommitMs: number;
};

export type GenerationCall = {
  readonly format: ClientFormat;
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Checks the key and the account's standing, or throws. */
  readonly authorize: () => KeyFacts;
  readonly readBody: () => Promise<ParsedBody>;
  /** Fires when the client leaves before its answer is complete. */
  readonly signal: AbortSignal;
};

/** A request that was understood and may be served, as far as limits and balance allow. */
export type CheckedRequest = {
  readonly call: GenerationCall;
  readonly facts: KeyFacts;
  /** With the thinking that its client lost. */
  readonly request: GenerationRequest;
  readonly catalog: Catalog;
  readonly plan: Plan;
  readonly model: Model;
  /** The model's when the request started; it stays, whatever the clock or the catalog do. */
  readonly price: Price;
  /** Estimated. */
  readonly promptTokens: number;
  /** What model, plan and caller allow; the grant lowers it to what the balance could pay. */
  readonly outputBound: number;
};

/** What an operator's log says of a request. Counts and names, never content. */
export type RequestReport = {
  readonly requestId: string;
  readonly format: ClientFormatName;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly modelServed: string;
  readonly stream: boolean;
  readonly outcome: Outcome;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly tokensDebited: string;
  readonly durationMs: number;
  readonly failure?: string;
  /** What was wrong with the usage that the upstream reported. */
  readonly usageDoubt?: UsageDoubt;
};
