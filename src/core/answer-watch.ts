// Watches finished answers for what costs money without failing: usage that is not reported, prompt
// reports far from our own count, and words that no reader knows. One state for each model at an
// upstream, in memory, which a new catalog resets.

import type { Alert } from './alert.ts';
import type { GenerationEvent, UnknownWord } from './generation.ts';
import type { Catalog, Upstream } from './model.ts';
import type { Candidate } from './route.ts';
import { type Sentence, say } from './sentence.ts';

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

export function createAnswerWatch(dependencies: {
  readonly catalog: () => Pick<Catalog, 'upstreams'>;
  readonly alert: (alert: Alert) => void;
  readonly onUnknown: (upstream: string, model: string, what: UnknownWord['what']) => void;
}) {
  const { catalog, alert, onUnknown } = dependencies;
  const watched = new WeakMap<Upstream, Map<string, Place>>();

  return {
    /** Takes the last events of a finished answer. The usual one makes no object here. */
    see({ candidate, promptTokens }: Asked, streamed: boolean, last: readonly GenerationEvent[]) {
      const finish = last.at(-1);
      if (finish?.kind !== 'finish') return;
      const { id: upstream } = candidate.upstream;
      const { slug: model } = candidate.model;
      const place = watched
        .getOrInsertComputed(candidate.upstream, noPlaces)
        .getOrInsertComputed(model, newPlace);
      const before = last.at(-2);
      const report = before?.kind === 'usage' ? before.usage : undefined;
      if (place[streamed ? 'streamed' : 'whole'].add(report === undefined)) {
        alert({ kind: 'usage_missing', upstream, model, streamed });
      }
      if (
        promptTokens !== undefined &&
        report?.basis === 'reported' &&
        isDoubted(place, report.inputTokens, promptTokens)
      ) {
        const ratio = String(Number(place.ratio.toPrecision(2)));
        alert({ kind: 'prompt_doubted', upstream, model, ratio });
      }
      const { unknown } = finish;
      if (unknown === undefined) return;
      onUnknown(upstream, model, unknown.what);
      if (place.unknown % ANSWERS === 0) {
        alert({ kind: 'word_unknown', upstream, model, ...unknown });
      }
      place.unknown += 1;
    },
    /** For `/readyz`, which anyone may read: without names. */
    warnings(): readonly Sentence[] {
      const bad = [...catalog().upstreams.values()]
        .flatMap((upstream) => [...(watched.get(upstream)?.values() ?? [])])
        .filter(({ streamed, whole, prompts }) => streamed.isBad || whole.isBad || prompts.isBad);
      if (bad.length === 0) return [];
      return [
        say(
          '{count} × missing or doubtful usage reports of a model at an upstream; see the alerts',
          { count: String(bad.length) },
          'alerts#usage',
        ),
      ];
    },
  };
}

const noPlaces = (): Map<string, Place> => new Map();

type Place = ReturnType<typeof newPlace>;

/** Of a model at an upstream: `ratio` of the latest report that was far from our count. */
function newPlace() {
  const tallies = { streamed: new Tally(), whole: new Tally(), prompts: new Tally() };
  return { ...tallies, ratio: 1, unknown: 0 };
}

function isDoubted(place: Place, reported: number, counted: number): boolean {
  if (Math.max(reported, counted) < PROMPT_TOKENS_MIN) return false;
  const isFar = reported > counted * FACTOR || reported * FACTOR < counted;
  if (isFar) place.ratio = reported / counted;
  return place.prompts.add(isFar);
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
