// Gives tests of the pages' modules the English texts with arguments, as the script of the language
// gives them to a page. Import it before the module.

import { join } from 'node:path';
import { compileCatalogue } from '../../src/dashboard/texts/compile.ts';
import { extractMessages, TEXT_FOLDERS } from '../../src/dashboard/texts/extract.ts';

const { messages } = await extractMessages(join(import.meta.dir, '../../src'), TEXT_FOLDERS);
globalThis.TEXTS = compileCatalogue(
  'en',
  messages.map(({ text }) => text),
);
