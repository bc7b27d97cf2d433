// Renders the code blocks of a page: a call in every language with a switch between them, and below it
// the answers that it gives. Only render.ts imports it, because it writes calls as the playground does.

import { codeFor } from '../web/customer/playground/code.ts';
import { KEY_MARK } from './frame.ts';
import { EXAMPLE_URL } from './page.ts';

/** A fenced block of Markdown: what stands behind the fence, and its text. */
export type CodeBlock = { readonly info: string; readonly text: string };

const LABELS: Readonly<Record<string, string>> = {
  sh: 'curl',
  js: 'JavaScript',
  python: 'Python',
};

/** Blocks that follow each other without a text between them. */
export function exampleOf(blocks: readonly CodeBlock[]): string {
  const answers = blocks.filter(({ info }) => isAnswer(info));
  const given = blocks.filter(({ info }) => !isAnswer(info));
  const calls = given.length === 1 ? given.flatMap(inEveryLanguage) : given;
  const isCall = calls.length > 1 && calls.every(({ info }) => LABELS[info] !== undefined);
  const key = calls.some(({ text }) => text.includes('API_KEY')) ? KEY_MARK : '';
  const head = `${isCall ? switchOf(calls) : ''}${key}`;
  return `<div class="example">
${head === '' ? '' : `<div class="row apart">${head}</div>\n`}${calls.map((block) => codeOf(block, isCall)).join('')}${answers.map(answerOf).join('')}</div>\n`;
}

/** `json answer CASE FORMAT`: an answer as the recorded case has it. */
export const isAnswer = (info: string): boolean => / answer\b/.test(info);

/** The request of a call by curl, if it generates text. */
export function requestOf(text: string) {
  const call =
    /^curl [^\n]*\/v1\/(chat|messages|responses)(?:\/completions)? [\s\S]*-d '([^']*)'\s*$/;
  const found = call.exec(text);
  if (found === null) return undefined;
  const [, format, body = ''] = found;
  return {
    format: format as 'chat' | 'messages' | 'responses',
    body: JSON.parse(body) as Record<string, unknown>,
  };
}

/** A call with headers of its own is shown as it is. */
function inEveryLanguage(block: CodeBlock): readonly CodeBlock[] {
  const request = block.info === 'sh' ? requestOf(block.text) : undefined;
  if (request === undefined || /idempotency-key/i.test(block.text)) return [block];
  const { javascript, python } = codeFor(request.format, request.body, { baseUrl: EXAMPLE_URL });
  return [block, { info: 'js', text: javascript }, { info: 'python', text: python }];
}

function switchOf(calls: readonly CodeBlock[]): string {
  const buttons = calls.map(
    ({ info }) => `<button type="button" data-choose="${info}">${LABELS[info]}</button>`,
  );
  return `<div class="segments" role="group" aria-label="Language">${buttons.join('')}</div>`;
}

function codeOf({ info, text }: CodeBlock, isCall: boolean): string {
  const [language = ''] = info.split(' ');
  const label = (isCall ? LABELS[language] : undefined) ?? language;
  const choice = LABELS[language] === undefined ? '' : ` data-choice="${language}"`;
  const caption = isCall ? ` data-label="${label}"` : '';
  // A group, because regions would be landmarks, which need different names.
  return `<div class="code"${choice}${caption}><button type="button" class="button small" data-copied="Copied">Copy</button><pre tabindex="0" role="group" aria-label="Example${label === '' ? '' : `, ${label}`}"><code>${Bun.escapeHTML(text)}</code></pre></div>\n`;
}

function answerOf(block: CodeBlock): string {
  const isStream = block.info.startsWith('text');
  const label = isStream ? 'Answer as a stream' : 'Answer';
  return `<details${isStream ? '' : ' open'}><summary>${label}</summary>${codeOf(block, false)}</details>\n`;
}
