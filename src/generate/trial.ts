// Tests one model at an upstream: a short request for each feature that the catalog claims, whole
// and streamed, with each key. It uses the attempts of real requests, outside of health and books.
// The operator pays for it, so a key that fails a plain request is asked for nothing more.

import { saidWords } from '../core/failure.ts';
import { Fold } from '../core/fold.ts';
import type { Answer, GenerationRequest } from '../core/generation.ts';
import { isObject, parseJson } from '../core/json.ts';
import type { ModelFeature, UpstreamCredential } from '../core/model.ts';
import type { Candidate } from '../core/route.ts';
import type { Attempt, StartAttempt } from '../upstream/attempt.ts';
import { plainRequest } from '../upstream/probe.ts';

/** The bound of each request. */
export const TRIAL_TOKENS = 64;

/** For all requests of a test together: the console waits for them. */
const TIME_MS = 50_000;

type TrialFeature = 'text' | ModelFeature;

/** What one request has shown. */
export type TrialResult = Shown & {
  /** The position of the key in the catalog. */
  readonly credential: string;
  readonly feature: TrialFeature;
  readonly stream: boolean;
  readonly duration_ms: number;
};

type Shown = {
  readonly ok: boolean;
  /** What the upstream said, or what is missing. */
  readonly detail: string | null;
  /** The names of the reported counts, such as `prompt_tokens_details.cached_tokens`. */
  readonly usage: readonly string[] | null;
  readonly first_content_ms: number | null;
};

/** 64 × 64 red pixels: some vendors refuse smaller images. */
const IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC';

const TOOL = {
  name: 'report',
  description: 'Reports whether all is well.',
  parameters: { type: 'object', properties: { well: { type: 'boolean' } }, required: ['well'] },
};

/** What the request for a feature adds to a plain one. */
const REQUESTS: Readonly<Record<TrialFeature, Partial<GenerationRequest>>> = {
  text: { turns: asking('Say hello in one word.') },
  tools: {
    turns: asking('All is well. Report it with the tool.'),
    tools: [TOOL],
    toolChoice: { kind: 'required' },
  },
  json: {
    turns: asking('Answer with the JSON object {"well": true} and nothing else.'),
    json: true,
  },
  vision: { turns: asking('Name the colour of this image in one word.', IMAGE) },
  reasoning: { turns: asking('Which is larger, 9.9 or 9.11?'), reasoning: 'low' },
};

function asking(text: string, ...images: string[]): GenerationRequest['turns'] {
  const shown = images.map((url) => ({ kind: 'image' as const, url }));
  return [{ role: 'user', parts: [...shown, { kind: 'text', text }] }];
}

/** Tests a candidate with the keys of its upstream. Never rejects. */
export type Trial = (candidate: Candidate) => Promise<readonly TrialResult[]>;

/** `monotonic` is in milliseconds. */
export function createTrial(startAttempt: StartAttempt, monotonic: () => number): Trial {
  return async (candidate) => {
    const { model, timeouts, upstream } = candidate;
    const endsAt = monotonic() + TIME_MS;
    const results: TrialResult[] = [];

    /** In turn, because some servers answer one request at a time. */
    async function ask(credential: UpstreamCredential, feature: TrialFeature): Promise<void> {
      for (const stream of [false, true]) {
        const startedAt = monotonic();
        const totalMs = Math.min(timeouts.totalMs, endsAt - startedAt);
        const start = () =>
          startAttempt({
            candidate: { ...candidate, timeouts: { ...timeouts, totalMs } },
            credential,
            request: { ...plainRequest(model.slug), stream, ...REQUESTS[feature] },
            maxOutputTokens: TRIAL_TOKENS,
            stream,
          });
        const shown = totalMs > 0 ? await read(start, feature) : { ...NOTHING, detail: TOO_LATE };
        const duration_ms = Math.round(monotonic() - startedAt);
        results.push({ credential: credential.id, feature, stream, ...shown, duration_ms });
      }
    }

    let untested = FEATURES.filter((feature) => model.features.has(feature));
    for (const credential of upstream.credentials) {
      await ask(credential, 'text');
      if (!results.some((each) => each.ok && each.credential === credential.id)) continue;
      for (const feature of untested) await ask(credential, feature);
      // Features do not depend on the key.
      untested = [];
    }
    return results;
  };
}

const FEATURES: readonly ModelFeature[] = ['tools', 'json', 'vision', 'reasoning'];
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
      return { ...judge(feature, fold.answer()), first_content_ms };
    }
  } catch {
    return { ...NOTHING, detail: 'the request could not be made' };
  }
}

/** Whether a complete answer has what was asked for. */
function judge(feature: TrialFeature, answer: Answer): Omit<Shown, 'first_content_ms'> {
  const usage = answer.usage === undefined ? null : namesIn(parseJson(answer.rawUsage ?? ''), '');
  const missing = missingIn(feature, answer);
  if (missing === undefined) return { ok: true, detail: null, usage };
  if (answer.finish === 'length') {
    const detail = `cut at ${TRIAL_TOKENS} tokens, which is too early to tell`;
    return { ok: true, detail, usage };
  }
  // Models that choose their depth need no thinking for a short answer.
  return { ok: feature === 'reasoning', detail: missing, usage };
}

function missingIn(
  feature: TrialFeature,
  { text, reasoning, toolCalls, usage }: Answer,
): string | undefined {
  if (feature === 'tools') return toolCalls.length > 0 ? undefined : 'the answer calls no tool';
  if (feature === 'json') {
    return isObject(parseJson(text)) ? undefined : 'the answer is not a JSON object';
  }
  if (reasoning !== '') return undefined;
  if (feature !== 'reasoning') return text === '' ? 'the answer is empty' : undefined;
  const thought = usage?.basis === 'reported' && usage.reasoningTokens > 0;
  return thought ? undefined : 'the answer shows and counts no thinking';
}

function namesIn(value: unknown, prefix: string): readonly string[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    isObject(each) ? namesIn(each, `${prefix}${name}.`) : [`${prefix}${name}`],
  );
}
