// Writes recorded answers into pages of the documentation: a block ```json answer CASE FORMAT has the
// answer of the case `00-docs-CASE.txt` among the recordings. Run by `bun run reference`; a test compares.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readSections, type Sections } from '../test/conformance/sections.ts';

/** What recordings have in the place of what differs from run to run. */
const SHOWN: readonly (readonly [RegExp, string])[] = [
  [/\b(chatcmpl-|msg_|resp_)ID(\d*)\b/g, '$1kdkJaSDI5K0QqSEwEi15n36r$2'],
  [/("(?:created|created_at|completed_at)": ?)0\b/g, '$11795249945'],
  [/\bBALANCE\b/g, '999934.3'],
];

const SECTIONS: Readonly<Record<string, string>> = {
  chat: 'chat answer',
  messages: 'Messages answer',
  responses: 'Responses answer',
};

const ANSWER = /^(```\w+ answer ([\w-]+) (chat|messages|responses)\n)[\s\S]*?^```$/gm;

export function recordedCase(name: string): Sections {
  const path = resolve(import.meta.dir, `../test/golden/cases/00-docs-${name}.txt`);
  return readSections({ bytes: readFileSync(path) });
}

/** The answer to a request for `model`, without its status and headers. */
export function recordedAnswer(name: string, format: string, model: string): string {
  const answer = recordedCase(name).get(SECTIONS[format] ?? '');
  if (answer === undefined)
    throw new Error(`the case ${name} has no answer in the format ${format}`);
  const body = answer.slice(answer.indexOf('\n\n') + 2).trimEnd();
  return SHOWN.reduce((text, [from, to]) => text.replace(from, to), body).replaceAll(
    'golden',
    model,
  );
}

/** A page with all of its answers; each is of the model that the call above it names. */
export function withAnswers(markdown: string): string {
  return markdown.replaceAll(ANSWER, (...[, fence, name, format, at]) => {
    const [, model = ''] = [...markdown.slice(0, at).matchAll(/"model": ?"([^"]+)"/g)].at(-1) ?? [];
    return `${fence}${recordedAnswer(name, format, model)}\n\`\`\``;
  });
}
