// Renders the Markdown of this folder: called by scripts/build.ts, and by a program that runs from
// source. It must not be a part of the executable, because its library is a development dependency.

import { join } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { exampleOf, isAnswer } from './examples.ts';
import { featuresIn } from './models.ts';
import {
  type DocPage,
  type DocPart,
  type DocSection,
  type Docs,
  docPath,
  EXAMPLE_URL,
  INDEX_TOPIC,
} from './page.ts';

const PARTS: readonly DocPart[] = ['customers', 'operators'];

/** The token of an example. */
const EXAMPLE = 'example';

/** Pages with fewer sections need no list of them. */
const CONTENTS_MIN = 4;

export async function renderDocs(): Promise<Docs> {
  const pages = await Promise.all(PARTS.map(renderPart));
  return {
    pages: pages.flat(),
    style: await built('style.css'),
    script: await built('../web/shared/docs-page.ts'),
    icon: await Bun.file(join(import.meta.dir, '../web/ui/mark.svg')).text(),
  };
}

async function renderPart(part: DocPart): Promise<DocPage[]> {
  const read = (topic: string) => Bun.file(join(import.meta.dir, part, `${topic}.md`)).text();
  const index = await read(INDEX_TOPIC);
  const topics = [...index.matchAll(/\]\(([\w-]+)\.md\)/g)].map(([, topic = '']) => topic);
  return Promise.all(
    [INDEX_TOPIC, ...new Set(topics)].map(async (topic) =>
      renderPage(part, topic, await read(topic)),
    ),
  );
}

function renderPage(part: DocPart, topic: string, markdown: string): DocPage {
  const tokens = new Marked().lexer(markdown);
  const names = rowNames(tokens);
  const marked = createMarked(part, names);
  const [title, summary] = tokens.filter(({ type }) => type !== 'space');
  return {
    part,
    topic,
    name: topic === INDEX_TOPIC ? part : topic,
    title: title === undefined ? topic : plainText(title),
    summary: summary === undefined ? '' : plainText(summary),
    markdown,
    features: featuresIn(
      tokens
        .filter(isGiven)
        .map(({ raw }) => raw)
        .join(''),
    ),
    html: marked
      .parser(withExamples(tokens))
      .replace('</p>\n', (end) => `${end}${contentsOf(tokens)}`),
    sections: sectionsOf(tokens, names),
  };
}

/** Code that a reader sends or writes, and no answer. */
const isGiven = ({ type, ...token }: Token): boolean =>
  type === 'code' && !isAnswer(String((token as Tokens.Code).lang));

/** With the code blocks that follow each other as one token, which renders as an example. */
function withExamples(tokens: readonly Token[]): Token[] {
  const joined: Token[] = [];
  let blocks: Tokens.Code[] = [];
  for (const token of tokens) {
    if (token.type === 'code') blocks = [...blocks, token as Tokens.Code];
    if (token.type === 'code' || (token.type === 'space' && blocks.length > 0)) continue;
    joined.push(...exampleToken(blocks), token);
    blocks = [];
  }
  return [...joined, ...exampleToken(blocks)];
}

function exampleToken(blocks: readonly Tokens.Code[]): Token[] {
  const shown = blocks.map(({ lang: info = '', text }) => ({ info, text }));
  return blocks.length === 0 ? [] : [{ type: EXAMPLE, raw: '', html: exampleOf(shown) }];
}

/** Links to the sections of a long page, below its first paragraph. */
function contentsOf(tokens: readonly Token[]): string {
  const headings = tokens.filter((token) => token.type === 'heading' && token['depth'] === 2);
  if (headings.length < CONTENTS_MIN) return '';
  const items = headings.map((token) => {
    const text = plainText(token);
    return `<li><a href="#${anchorOf(text)}">${Bun.escapeHTML(text)}</a></li>`;
  });
  return `<nav class="contents" aria-label="On this page"><ul>${items.join('')}</ul></nav>\n`;
}

function createMarked(part: DocPart, names: RowNames): Marked {
  return new Marked({
    async: false,
    extensions: [{ name: EXAMPLE, renderer: (token) => String(token['html']) }],
    renderer: {
      heading({ tokens, depth }: Tokens.Heading): string {
        const text = this.parser.parseInline(tokens);
        const anchor = anchorOf(tokens.map(plainText).join(''));
        const id = depth === 1 ? '' : ` id="${anchor}"`;
        const link =
          depth === 1
            ? ''
            : ` <a class="anchor" href="#${anchor}" aria-hidden="true" tabindex="-1">#</a>`;
        return `<h${depth}${id}>${text}${link}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const target = Bun.escapeHTML(addressOf(part, href));
        return `<a href="${target}">${this.parser.parseInline(tokens)}</a>`;
      },
      code: ({ text, lang = '' }: Tokens.Code) => exampleOf([{ info: lang, text }]),
      table({ header, rows }: Tokens.Table): string {
        const inline = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
        const head = header.map((cell) => `<th>${inline(cell)}</th>`).join('');
        // Phones show rows of more than two cells as blocks, in which each cell has its label.
        const cell = (each: Tokens.TableCell, at: number) =>
          `<td data-label="${Bun.escapeHTML(header[at]?.text ?? '')}">${inline(each)}</td>`;
        const id = (row: Row) => (names.has(row) ? ` id="${names.get(row)}"` : '');
        const body = rows.map((row) => `<tr${id(row)}>${row.map(cell).join('')}</tr>`).join('\n');
        return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head}</tr></thead>\n<tbody>${body}</tbody></table></div>\n`;
      },
      /** The marks of what a script writes. */
      html: () => '',
    },
  });
}

/** Where a link of a page leads on the server that shows it. */
function addressOf(part: DocPart, href: string): string {
  const [, folder, topic, anchor = ''] = /^(?:\.\.\/(\w+)\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (topic === undefined) return href;
  // The customers' pages are not on the operator's listener.
  const isOther = folder !== undefined && folder !== part;
  const base = isOther ? EXAMPLE_URL : '';
  return `${base}${docPath(isOther ? 'customers' : part, topic)}${anchor}`;
}

/** The names that GitHub gives to headings, so that links work there too. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
}

type Row = readonly Tokens.TableCell[];
type RowNames = ReadonlyMap<Row, string>;

/** The rows of tables that are about one name, such as a field or a code, which is their anchor. */
function rowNames(tokens: readonly Token[]): RowNames {
  const taken = new Set(
    tokens.filter(({ type }) => type === 'heading').map((token) => anchorOf(plainText(token))),
  );
  const names = new Map<Row, string>();
  for (const row of tokens.flatMap(rowsOf)) {
    // The first cell, or one code in the second: a status has several.
    const cell = row.slice(0, 2).find(({ tokens: [first, more] }, at) => {
      return first?.type === 'codespan' && (at === 0 || more === undefined);
    });
    const [, name = ''] = /^`([\w.-]{2,})`/.exec(cell?.text ?? '') ?? [];
    if (name === '' || taken.has(name)) continue;
    taken.add(name);
    names.set(row, name);
  }
  return names;
}

const rowsOf = (token: Token): readonly Row[] =>
  token.type === 'table' ? (token as Tokens.Table).rows : [];

/** Rows with a name of their own come after the section that has them. */
function sectionsOf(tokens: readonly Token[], names: RowNames): DocSection[] {
  const sections: { anchor: string; heading: string; texts: string[] }[] = [];
  for (const token of tokens) {
    if (token.type === 'heading') {
      const heading = plainText(token);
      sections.push({ anchor: sections.length === 0 ? '' : anchorOf(heading), heading, texts: [] });
    } else {
      sections.at(-1)?.texts.push(plainText(token));
    }
  }
  const rows = tokens.flatMap(rowsOf).flatMap((row) => {
    const name = names.get(row);
    const cells = row.map((cell) => cell.tokens.map(plainText).join(''));
    return name === undefined
      ? []
      : [{ anchor: name, heading: name, texts: [cells.filter(Boolean).join(' · ')] }];
  });
  return [...sections, ...rows].map(({ anchor, heading, texts }) => ({
    anchor,
    heading,
    text: texts.join(' ').replaceAll(/\s+/g, ' ').trim(),
  }));
}

/** What a reader sees of a token, without markup. */
function plainText(token: Token): string {
  if (token.type === 'html' || token.type === 'space') return ' ';
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows]
      .flat()
      .map((cell) => cell.tokens.map(plainText).join(''))
      .join(' ');
  }
  if (token.type === 'list') return (token as Tokens.List).items.map(plainText).join(' ');
  if ('tokens' in token && token.tokens !== undefined) return token.tokens.map(plainText).join('');
  return 'text' in token && typeof token.text === 'string' ? token.text : '';
}

async function built(file: string): Promise<string> {
  const entrypoints = [join(import.meta.dir, file)];
  const [output] = (await Bun.build({ entrypoints, minify: true })).outputs;
  if (output === undefined) throw new Error(`${file} of the documentation was not built`);
  return output.text();
}
