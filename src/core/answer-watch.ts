// Watches finished answers for what costs money without failing: usage that is not reported, prompt
// reports far from our own count, and words that no reader knows. One state for each model at an
// upstream, in memory, which a new catalog resets.

import type { Alert } from './alert.ts';
import type { GenerationEvent } from './generation.ts';
import type { Catalog, Upstream } from './model.ts';
import type { Candidate } from './route.ts';
import type { UnknownWord } from './unknown-word.ts';

/** An alert needs more than half of so many answers, and comes again after as many. */
const ANSWERS = 20;

/** How far a prompt report may be from our count, in either direction. */
const FACTOR = 4;

/** Shorter prompts, by both counts, say little: servers add templates of their own. */
const PROMPT_TOKENS_MIN = 200;

type Asked = {
  readonly candidate: Pick<Candidate, 'upstream' | 'model'>;
  /** Our count; absent for requests of our own. */
  readonly promptTokens?: number | undefined;
};

/** `ratioOf`: reported prompt tokens of a model for one of our count, as far as it is known. */
export function createAnswerWatch(dependencies: {
  readonly catalog: () => Pick<Catalog, 'upstreams'>;
  readonly ratioOf: (model: string) => number;
  readonly alert: (alert: Alert) => void;
  readonly onUnknown: (upstream: string, model: string, what: UnknownWord['what']) => void;
}) {
  const { catalog, ratioOf, alert, onUnknown } = dependencies;
  const watched = new WeakMap<Upstream, Map<string, Place>>();

  return {
    /** Takes the last events of a finished answer: the usage, if any, and the finish. */
    see({ candidate, promptTokens }: Asked, streamed: boolean, last: readonly GenerationEvent[]) {
      const finish = last.at(-1);
      if (finish?.kind !== 'finish') return;
      const { upstream, model } = candidate;
      const place = watched
        .getOrInsertComputed(upstream, noPlaces)
        .getOrInsertComputed(model.slug, newPlace);
      const before = last.at(-2);
      const report = before?.kind === 'usage' ? before.usage : undefined;
      const isMissing = place[streamed ? 'streamed' : 'whole'].add(report === undefined);
      const ratio =
        promptTokens !== undefined && report?.basis === 'reported'
          ? place.compare(report.inputTokens, promptTokens * ratioOf(model.slug))
          : undefined;
      const { unknown } = finish;
      // The usual answer makes no object here.
      if (!isMissing && ratio === undefined && unknown === undefined) return;
      const names = { upstream: upstream.id, model: model.slug };
      if (isMissing) alert({ kind: 'usage_missing', ...names, streamed });
      if (ratio !== undefined) alert({ kind: 'prompt_doubted', ...names, ratio });
      if (unknown === undefined) return;
      onUnknown(upstream.id, model.slug, unknown.what);
      if (place.unknown % ANSWERS === 0) alert({ kind: 'word_unknown', ...names, ...unknown });
      place.unknown += 1;
    },
    /** For `/readyz`, which anyone may read: without names. */
    warnings(): readonly string[] {
      const places = [...catalog().upstreams.values()].flatMap((upstream) => [
        ...(watched.get(upstream)?.values() ?? []),
      ]);
      const bad = places.filter((place) => place.isBad()).length;
      if (bad === 0) return [];
      return [
        `${bad} × missing or doubtful usage reports of a model at an upstream; see the alerts`,
      ];
    },
  };
}

const noPlaces = (): Map<string, Place> => new Map();
const newPlace = (): Place => new Place();

/** What is known of a model at an upstream. */
class Place {
  readonly streamed = new Tally();
  readonly whole = new Tally();
  /** Answers with an unknown word. */
  unknown = 0;
  readonly #prompts = new Tally();
  /** Of the latest report that was far from our count. */
  #ratio = 1;

  isBad(): boolean {
    return this.streamed.isBad || this.whole.isBad || this.#prompts.isBad;
  }

  /** How many times our count was reported, as text, where that needs an alert. */
  compare(reported: number, counted: number): string | undefined {
    if (Math.max(reported, counted) < PROMPT_TOKENS_MIN) return undefined;
    const isFar = reported > counted * FACTOR || reported * FACTOR < counted;
    if (isFar) this.#ratio = reported / counted;
    return this.#prompts.add(isFar) ? String(Number(this.#ratio.toPrecision(2))) : undefined;
  }
}

/** Counts the bad ones of some answers, again and again. */
class Tally {
  /** Whether most of the last complete window were bad. */
  isBad = false;
  #seen = 0;
  #bad = 0;

  /** Whether this answer completes a window of mostly bad ones. */
  add(isBad: boolean): boolean {
    this.#seen += 1;
    if (isBad) this.#bad += 1;
    if (this.#seen < ANSWERS) return false;
    this.isBad = 2 * this.#bad > ANSWERS;
    this.#seen = 0;
    this.#bad = 0;
    return this.isBad;
  }
}
