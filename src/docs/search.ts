// Finds sections of the documentation that have every word of a query, the best first.

import type { DocPage, DocSection } from './page.ts';

export type DocHit = {
  readonly page: DocPage;
  readonly section: DocSection;
  /** Some words around the first match. */
  readonly excerpt: string;
};

const HITS_MAX = 20;
const QUERY_MAX = 100;
const WORDS_MAX = 6;
const EXCERPT = 160;

/** What a match is worth by where it is; further matches in the text count a little. */
const TITLE = 8;
const HEADING = 6;
const TEXT_MAX = 4;

/** A section with its texts in lower case: a search is open to everyone and must cost little. */
type Indexed = {
  readonly page: DocPage;
  readonly section: DocSection;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
};

export type SearchDocs = (query: string) => readonly DocHit[];

export function createDocSearch(pages: readonly DocPage[]): SearchDocs {
  const index = pages.flatMap((page) =>
    page.sections.map((section): Indexed => {
      const title = page.title.toLowerCase();
      const heading = section.heading.toLowerCase();
      return { page, section, title, heading, text: section.text.toLowerCase() };
    }),
  );
  return (query) => {
    const words = wordsOf(query);
    if (words.length === 0) return [];
    return index
      .map((entry) => ({ entry, score: scoreOf(entry, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, HITS_MAX)
      .map(({ entry: { page, section } }) => {
        return { page, section, excerpt: excerptOf(section.text, words) };
      });
  };
}

/** The words that are searched for: distinct ones, the first of many. */
export function wordsOf(query: string): readonly string[] {
  const words = query.slice(0, QUERY_MAX).toLowerCase().split(/\s+/).filter(Boolean);
  return [...new Set(words)].slice(0, WORDS_MAX);
}

/** 0 where a word is missing. */
function scoreOf({ title, heading, text }: Indexed, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const inTitle = title.includes(word) ? TITLE : 0;
    const inHeading = heading.includes(word) ? HEADING : 0;
    const inText = countUpTo(TEXT_MAX, word, text);
    if (inHeading + inText === 0) return 0;
    score += inTitle + inHeading + inText;
  }
  return score;
}

function countUpTo(most: number, word: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(word); at >= 0 && count < most; count += 1) {
    at = text.indexOf(word, at + word.length);
  }
  return count;
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const begin = first < EXCERPT / 2 ? 0 : text.lastIndexOf(' ', first - EXCERPT / 4) + 1;
  const end = begin + EXCERPT;
  const cut = text.slice(begin, end);
  return `${begin > 0 ? '… ' : ''}${cut}${end < text.length ? ' …' : ''}`;
}
