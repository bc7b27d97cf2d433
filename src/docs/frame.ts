// The HTML around a page of the documentation: header with search, navigation, content. Script and style
// are files, because the policy of its headers forbids both in a page.

import {
  DOC_PREFIXES,
  type DocFace,
  type DocPage,
  type DocPart,
  type DocSection,
  docPath,
  INDEX_TOPIC,
} from './page.ts';
import type { DocHits } from './search.ts';
import { WORD } from './search-words.ts';

type FrameParts = {
  readonly part: DocPart;
  /** The pages of the part, the index first. */
  readonly pages: readonly DocPage[];
  readonly face: DocFace;
  readonly assets: { readonly style: string; readonly script: string; readonly icon: string };
  readonly title: string;
  /** The topic of the page that is shown, to mark it in the navigation. */
  readonly topic?: string;
  readonly query?: string;
  readonly content: string;
};

const NAMES: Readonly<Record<DocPart, { readonly realm: string; readonly home: string }>> = {
  customers: { realm: 'Docs', home: 'Open the dashboard' },
  operators: { realm: 'Operator docs', home: 'Open the console' },
};

const HOMES: Readonly<Record<DocPart, string>> = {
  customers: '/dashboard',
  operators: '/operator',
};

const html = (text: string): string => Bun.escapeHTML(text);

export function frameOf(parts: FrameParts): string {
  const { part, assets, face, title, content, query = '' } = parts;
  const icon = face.icon ?? assets.icon;
  const colours =
    face.colours === undefined ? '' : `\n<link rel="stylesheet" href="${face.colours}">`;
  const prefix = DOC_PREFIXES[part];
  const { realm, home } = NAMES[part];
  const app = part === 'operators' ? ' data-app="operator"' : '';
  return `<!doctype html>
<html lang="en"${app}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${html(title)} · ${html(face.name)} ${realm}</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${assets.style}">${colours}
<script src="${assets.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="docs">
<header class="docs-head">
<a class="brand" href="${prefix}"><img class="mark" src="${icon}" alt="">${html(face.name)}<span class="realm">${realm}</span></a>
<a class="to-pages" href="#pages">All pages</a>
<form role="search" action="${prefix}/search">
<label class="sr-only" for="q">Search the documentation</label>
<input class="input" id="q" name="q" type="search" maxlength="100" placeholder="Search" value="${html(query)}" required>
<button class="button">Search</button>
</form>
</header>
<main class="main" id="content" tabindex="-1"><article class="doc">
${content}
</article></main>
<nav class="side" id="pages" aria-label="Pages">
${navigationOf(parts)}
<div class="group">${part === 'operators' ? 'Operate' : 'Manage'}</div>
<ul class="plain"><li><a class="item" href="${HOMES[part]}">${home}</a></li></ul>
</nav>
</div>
</body>
</html>
`;
}

/** The groups of the index: its headings, and the links below each. */
function navigationOf({ part, pages, topic }: FrameParts): string {
  const byTopic = new Map(pages.map((page) => [page.topic, page]));
  const index = byTopic.get(INDEX_TOPIC)?.markdown ?? '';
  return index
    .split(/^## /m)
    .slice(1)
    .map((group) => {
      const name = group.slice(0, group.indexOf('\n'));
      const topics = [...group.matchAll(/^- \[.*?\]\(([\w-]+)\.md\)/gm)].map(
        ([, each = '']) => each,
      );
      const items = topics
        .flatMap((each) => byTopic.get(each) ?? [])
        .map((page) => {
          const current = page.topic === topic ? ' aria-current="page"' : '';
          const href = docPath(part, page.topic);
          return `<li><a class="item" href="${href}"${current}>${html(page.title)}</a></li>`;
        });
      return `<div class="group">${html(name)}</div>\n<ul class="plain">${items.join('')}</ul>`;
    })
    .join('\n');
}

export function searchContent(query: string, { hits, isMatch }: DocHits): string {
  const shown = `<q>${html(query)}</q>`;
  if (query.trim() === '') {
    return '<h1>Search</h1>\n<p>Enter one or more words. A section matches if it has all of them.</p>';
  }
  if (hits.length === 0) {
    return `<h1>Search</h1>\n<p>No section has all words of ${shown}. Try fewer or other words.</p>`;
  }
  const items = hits.map(({ page, section, excerpt }) => {
    const href = hrefOf(page, section);
    const place = section.anchor === '' ? page.title : `${page.title} · ${section.heading}`;
    return `<li><a href="${href}">${html(place)}</a><p>${marked(excerpt, isMatch)}</p></li>`;
  });
  return `<h1>Search</h1>\n<p>Sections with ${shown}:</p>\n<ol class="plain hits">${items.join('\n')}</ol>`;
}

function hrefOf({ part, topic }: DocPage, { anchor }: DocSection): string {
  return `${docPath(part, topic)}${anchor === '' ? '' : `#${anchor}`}`;
}

/** An excerpt as HTML, with the words of the query marked. */
function marked(excerpt: string, isMatch: (word: string) => boolean): string {
  return excerpt
    .split(new RegExp(`(${WORD.source})`, 'u'))
    .map((text) => (isMatch(text) ? `<mark>${html(text)}</mark>` : html(text)))
    .join('');
}

/** Where an example leaves room for `keyNote`. */
export const KEY_MARK = '<!-- key -->';

/** Which key of the reader an example means. */
export function keyNote(masked: string): string {
  return `<a class="soft small" href="/dashboard/keys">Your key: <code>${html(masked)}</code></a>`;
}

export const MISSING =
  '<h1>This page does not exist</h1>\n<p>Choose a page from the list, or search for what you need.</p>';
