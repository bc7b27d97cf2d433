// Shows Markdown of a model as elements. Text is never HTML: tags are shown as they are written, only
// web and mail addresses are links, and images are links, so that nothing of elsewhere is loaded.

import type { Token, Tokens } from 'marked';
import { Component, type ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { t } from '../../text/t.ts';
import { CopyButton } from '../../ui/button.tsx';
import { highlight } from './highlight.ts';
import { type Blocks, NO_BLOCKS, parseBlocks } from './markdown-blocks.ts';

export function Markdown({
  text,
  isRunning = false,
}: {
  readonly text: string;
  /** The text still grows: only its last blocks are parsed. */
  readonly isRunning?: boolean;
}) {
  const blocks = useRef<Blocks>(NO_BLOCKS);
  if (isRunning || blocks.current.text !== text) {
    blocks.current = parseBlocks(text, isRunning ? blocks.current : NO_BLOCKS, isRunning);
  }
  return (
    <div class="markdown">
      {blocks.current.tokens.map((token, index) => (
        <Block key={index} token={token} />
      ))}
    </div>
  );
}

/** Drawn once for each token: tokens of finished blocks stay the same objects. */
class Block extends Component<{ readonly token: Token }> {
  override shouldComponentUpdate(next: { readonly token: Token }): boolean {
    return next.token !== this.props.token;
  }

  override render() {
    return blockOf(this.props.token as MarkedBlock);
  }
}

type MarkedBlock =
  | Tokens.Blockquote
  | Tokens.Code
  | Tokens.Heading
  | Tokens.Hr
  | Tokens.List
  | Tokens.Paragraph
  | Tokens.Table
  | Tokens.Text;

function blockOf(token: MarkedBlock): ComponentChildren {
  switch (token.type) {
    case 'heading':
      // Below the heading of the turn.
      return token.depth <= 2 ? <h4>{inlines(token.tokens)}</h4> : <h5>{inlines(token.tokens)}</h5>;
    case 'paragraph':
      return <p>{inlines(token.tokens)}</p>;
    case 'code':
      return <Code code={token.text} language={token.lang?.split(/\s/)[0] ?? ''} />;
    case 'blockquote':
      return <blockquote>{blocksOf(token.tokens)}</blockquote>;
    case 'list':
      return listOf(token);
    case 'table':
      return tableOf(token);
    case 'hr':
      return <hr />;
    case 'text':
      return token.tokens === undefined ? decoded(token.text) : inlines(token.tokens);
    default:
      return plainOf(token);
  }
}

function blocksOf(tokens: readonly Token[] | undefined): ComponentChildren {
  return tokens?.map((token, index) => <Block key={index} token={token} />);
}

function listOf({ ordered, start, items }: Tokens.List): ComponentChildren {
  const rows = items.map(({ task, checked, tokens }, index) => (
    <li key={index}>
      {task && <input type="checkbox" checked={checked ?? false} disabled aria-label={t('Task')} />}
      {blocksOf(tokens.filter(({ type }) => type !== 'checkbox'))}
    </li>
  ));
  return ordered ? <ol start={Number(start) || 1}>{rows}</ol> : <ul>{rows}</ul>;
}

function tableOf({ header, rows }: Tokens.Table): ComponentChildren {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables are scrolled by keys.
    <section class="scroll" tabIndex={0} aria-label={t('Table')}>
      <table>
        <thead>
          <tr>
            {header.map(({ tokens, align }, index) => (
              <th key={index} scope="col" class={align === 'right' ? 'end' : undefined}>
                {inlines(tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map(({ tokens, align }, index) => (
                <td key={index} class={align === 'right' ? 'end' : undefined}>
                  {inlines(tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** What is not Markdown, such as HTML, and text that is not parsed, as it was written. */
function plainOf({ type, raw }: Token): ComponentChildren {
  if (type === 'space' || type === 'def') return null;
  return <p class="turn-text">{raw}</p>;
}

type MarkedInline =
  | Tokens.Br
  | Tokens.Codespan
  | Tokens.Del
  | Tokens.Em
  | Tokens.Escape
  | Tokens.Image
  | Tokens.Link
  | Tokens.Strong
  | Tokens.Text;

function inlines(tokens: readonly Token[] | undefined): ComponentChildren {
  return tokens?.map((token, index) => <span key={index}>{inlineOf(token as MarkedInline)}</span>);
}

function inlineOf(token: MarkedInline): ComponentChildren {
  switch (token.type) {
    case 'strong':
      return <strong>{inlines(token.tokens)}</strong>;
    case 'em':
      return <em>{inlines(token.tokens)}</em>;
    case 'del':
      return <del>{inlines(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return linkOf(token.href, inlines(token.tokens));
    case 'image':
      return linkOf(token.href, t('Image: {text}', { text: token.text || token.href }));
    case 'text':
      return token.tokens === undefined ? decoded(token.text) : inlines(token.tokens);
    case 'escape':
      return token.text;
    default:
      return (token as Token).raw;
  }
}

function linkOf(href: string, children: ComponentChildren): ComponentChildren {
  const address = safeAddress(decoded(href));
  if (address === undefined) return children;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/** Undefined unless it is a complete address of the web or of mail. */
function safeAddress(href: string): string | undefined {
  const address = URL.parse(href);
  const isSafe = address !== null && /^(https?|mailto):$/.test(address.protocol);
  return isSafe ? address.href : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" },
  ...{ '#39': "'", nbsp: '\u00a0', hellip: '…', mdash: '—', ndash: '–' },
};

function decoded(text: string): string {
  return text.replaceAll(/&(#39|[a-z]{2,6});/g, (all, name: string) => ENTITIES[name] ?? all);
}

function Code({ code, language }: { readonly code: string; readonly language: string }) {
  return (
    <div class="code-block titled">
      <div class="code-head">
        <span>{language === '' ? t('Code') : language}</span>
        <CopyButton kind="quiet" text={code} label={t('Copy code')} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keys. */}
      <section class="scroll" tabIndex={0} aria-label={language === '' ? t('Code') : language}>
        <pre>
          {highlight(code, language).map(({ kind, text }, index) =>
            kind === 'plain' ? (
              text
            ) : (
              <span key={index} class={`code-${kind}`}>
                {text}
              </span>
            ),
          )}
        </pre>
      </section>
    </div>
  );
}
