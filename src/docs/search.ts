// Finds sections and rows of the documentation that have every word of a query, the best first.

import { editDistance } from '../core/nearest.ts';
import type { DocPage, DocSection } from './page.ts';
import { type QueryTerm, stemOf, stemsOf, termsOf, WORD, wordsOf } from './search-words.ts';

export type DocHit = {
  readonly page: DocPage;
  readonly section: DocSection;
  /** Some words around the first match. */
  readonly excerpt: string;
};

export type DocHits = {
  readonly hits: readonly DocHit[];
  /** Whether a word of the pages is one that was searched for. */
  readonly isMatch: (word: string) => boolean;
};

const HITS_MAX = 20;
const QUERY_MAX = 100;
const WORDS_MAX = 6;
const EXCERPT = 160;

/** What a match is worth by where it is; further matches in the text count a little. */
const NAME = 20;
const TITLE = 8;
const HEADING = 6;
const TEXT_MAX = 4;

/** What a word counts that only begins like the one of the query, or is another one for it. */
const RELATED = 0.5;

/** Pages that explain come before those that list. */
const REFERENCE = 0.6;

type Entry = { readonly page: DocPage; readonly section: DocSection };

/** `first`: where in the text; infinite where only a heading or the title has it. */
type Match = { readonly score: number; readonly first: number };

/** What a word is worth in each entry that has it, by the place of the entry. */
type Matches = ReadonlyMap<number, Match>;

export type SearchDocs = (query: string) => DocHits;

/** A search is open to everyone and must cost little: words are looked up, not texts. */
export function createDocSearch(pages: readonly DocPage[]): SearchDocs {
  const entries: readonly Entry[] = pages.flatMap((page) =>
    page.sections.map((section) => ({ page, section })),
  );
  const index = indexOf(entries);
  return (query) => {
    const terms = termsOf(query.slice(0, QUERY_MAX), WORDS_MAX).map((term) =>
      wordsFor(index, term),
    );
    const found = terms.map((term) => matchesOf(index, term));
    const hits = [...(found[0] ?? new Map<number, Match>()).keys()]
      .filter((at) => found.every((each) => each.has(at)))
      .map((at) => {
        const matches = found.flatMap((each) => each.get(at) ?? []);
        return {
          at,
          score: matches.reduce((sum, { score }) => sum + score, 0),
          first: Math.min(...matches.map(({ first }) => first)),
        };
      })
      .sort((a, b) => b.score - a.score)
      .slice(0, HITS_MAX);
    const stems = new Set(terms.flatMap((term) => [...term.keys()]));
    const isMatch = (word: string) => stemsOf(word.toLowerCase()).some((stem) => stems.has(stem));
    return {
      isMatch,
      hits: hits.flatMap(({ at, first }) => {
        const entry = entries[at];
        return entry === undefined ? [] : [{ ...entry, excerpt: excerptOf(entry, first) }];
      }),
    };
  };
}

function indexOf(entries: readonly Entry[]): ReadonlyMap<string, Matches> {
  const index = new Map<string, Map<number, Match>>();
  for (const [at, { page, section }] of entries.entries()) {
    const factor = /^(api|operator-api-ref)/.test(page.topic) ? REFERENCE : 1;
    const titles = new Set(wordsOf(`${page.title} ${page.topic}`).flatMap(stemsOf));
    const headings = wordsOf(section.heading).flatMap(stemsOf);
    // Of the beginning of a page, its topic.
    const name = stemOf((section.anchor === '' ? page.topic : section.heading).toLowerCase());
    const places = new Map<string, number[]>();
    for (const { 0: word, index: place } of section.text.matchAll(WORD)) {
      for (const stem of stemsOf(word.toLowerCase())) {
        places.set(stem, [...(places.get(stem) ?? []), place].slice(0, TEXT_MAX));
      }
    }
    for (const stem of new Set([
      ...headings,
      ...places.keys(),
      ...(section.anchor === '' ? titles : []),
    ])) {
      const score =
        (stem === name ? NAME : 0) +
        (titles.has(stem) ? TITLE : 0) +
        (headings.includes(stem) ? HEADING : 0) +
        (places.get(stem)?.length ?? 0);
      const first = places.get(stem)?.[0] ?? Number.POSITIVE_INFINITY;
      const matches = index.get(stem) ?? new Map<number, Match>();
      index.set(stem, matches.set(at, { score: score * factor, first }));
    }
  }
  return index;
}

/** The words of the index that a term means, with their weights. */
function wordsFor(
  index: ReadonlyMap<string, Matches>,
  { stems, synonyms }: QueryTerm,
): ReadonlyMap<string, number> {
  const isPhrase = synonyms.length > 0;
  const isKnown = [...stems, ...synonyms].some((stem) => index.has(stem));
  const related = [...index.keys()].filter((known) =>
    stems.some((stem) => {
      if (isPhrase || stem.length < 3) return known === stem;
      return known.startsWith(stem) || (!isKnown && isClose(known, stem));
    }),
  );
  return new Map([
    ...related.map((stem) => [stem, RELATED] as [string, number]),
    ...(isPhrase ? synonyms : stems).map((stem) => [stem, 1] as [string, number]),
  ]);
}

/** One letter wrong, or two of a long word; the first one is right. */
function isClose(known: string, stem: string): boolean {
  const most = stem.length < 6 ? 1 : 2;
  return (
    stem.length > 3 &&
    known[0] === stem[0] &&
    Math.abs(known.length - stem.length) <= most &&
    editDistance(stem, known) <= most
  );
}

/** The best of the words in each entry, and the first. */
function matchesOf(
  index: ReadonlyMap<string, Matches>,
  words: ReadonlyMap<string, number>,
): Matches {
  const best = new Map<number, Match>();
  for (const [word, weight] of words) {
    for (const [at, { score, first }] of index.get(word) ?? []) {
      const other = best.get(at) ?? { score: 0, first };
      best.set(at, {
        score: Math.max(other.score, score * weight),
        first: Math.min(other.first, first),
      });
    }
  }
  return best;
}

function excerptOf({ section: { text } }: Entry, found: number): string {
  const first = Number.isFinite(found) ? found : 0;
  const begin = first < EXCERPT / 2 ? 0 : text.lastIndexOf(' ', first - EXCERPT / 4) + 1;
  const end = begin + EXCERPT;
  const cut = text.slice(begin, end);
  return `${begin > 0 ? '… ' : ''}${cut}${end < text.length ? ' …' : ''}`;
}
