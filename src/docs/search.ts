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
const EXCERPT = 160;

/** What a match is worth by where it is; further matches in the text count a little. */
const TITLE = 8;
const HEADING = 6;
const TEXT_MAX = 4;

export function searchDocs(pages: readonly DocPage[], query: string): readonly DocHit[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  return pages
    .flatMap((page) =>
      page.sections.map((section) => ({ page, section, score: scoreOf(page, section, words) })),
    )
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, HITS_MAX)
    .map(({ page, section }) => ({ page, section, excerpt: excerptOf(section.text, words) }));
}

export function wordsOf(query: string): readonly string[] {
  return query.slice(0, QUERY_MAX).toLowerCase().split(/\s+/).filter(Boolean);
}

/** 0 where a word is missing. */
function scoreOf(page: DocPage, section: DocSection, words: readonly string[]): number {
  const title = page.title.toLowerCase();
  const heading = section.heading.toLowerCase();
  const text = section.text.toLowerCase();
  let score = 0;
  for (const word of words) {
    const inTitle = title.includes(word) ? TITLE : 0;
    const inHeading = heading.includes(word) ? HEADING : 0;
    const inText = Math.min(text.split(word).length - 1, TEXT_MAX);
    if (inHeading + inText === 0) return 0;
    score += inTitle + inHeading + inText;
  }
  return score;
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
