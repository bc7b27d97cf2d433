// `bun run texts [LANGUAGE]`: prints what a catalogue lacks as JSON, and removes from its file what
// no page uses any more. Add the translations to src/dashboard/texts/LANGUAGE.json.

import { join } from 'node:path';
import { TRANSLATIONS } from '../src/dashboard/texts/compile.ts';
import { extractMessages, SENTENCE_FOLDERS, TEXT_FOLDERS } from '../src/dashboard/texts/extract.ts';

const sources = join(import.meta.dir, '../src');
const folders = [...TEXT_FOLDERS, ...SENTENCE_FOLDERS];
const { messages, untranslated } = await extractMessages(sources, folders);
const used = [...new Set(messages.map(({ text }) => text))].sort();

for (const [language, translations] of Object.entries(TRANSLATIONS)) {
  if (process.argv[2] !== undefined && process.argv[2] !== language) continue;
  const kept = used.flatMap((text) => {
    const translation = translations[text];
    return translation === undefined ? [] : [[text, translation] as const];
  });
  const path = join(sources, 'dashboard/texts', `${language}.json`);
  await Bun.write(path, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
  const missing = used.filter((text) => translations[text] === undefined);
  const shown = Object.fromEntries(missing.map((text) => [text, '']));
  process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  process.stderr.write(`${language}: ${kept.length} translated, ${missing.length} missing\n`);
}
for (const place of untranslated) process.stderr.write(`not through t(): ${place}\n`);
