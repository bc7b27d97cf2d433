// `bun test/upgrade/next-version.ts FILE`: builds a later version of this source, to rehearse upgrades
// while there is no later release: the same code with a higher number and one more migration. The
// migration is of the kind that a release may have: it only adds, so that nodes of the version before
// keep working.

import { join, resolve } from 'node:path';
import type { BunPlugin } from 'bun';
import { buildExecutable, shortCommit } from '../../scripts/executable.ts';

export const NEXT_VERSION = '999.0.0-rehearsal';

/** In both databases; `requests` is the largest table, and every answer writes to it. */
const STATEMENTS = [
  'ALTER TABLE requests ADD COLUMN rehearsed text',
  'CREATE TABLE rehearsals (id bigint PRIMARY KEY, note text NOT NULL)',
  "INSERT INTO rehearsals (id, note) SELECT count(*), 'requests at the migration' FROM requests",
];

export const NEXT_MIGRATION = {
  tag: '9999_rehearsal',
  when: 9_999_999_999_999,
  sql: STATEMENTS.join(';\n--> statement-breakpoint\n'),
};

const withMigration: BunPlugin = {
  name: 'one more migration',
  setup(builder) {
    builder.onLoad({ filter: /\/src\/store\/migrations\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      const more = `for (const list of Object.values(MIGRATIONS)) list.push(${JSON.stringify(NEXT_MIGRATION)});`;
      return { contents: `${text}\n${more}\n`, loader: 'ts' };
    });
  },
};

if (import.meta.main) {
  const [, , file = join(import.meta.dir, '../../dist/next')] = process.argv;
  await buildExecutable({
    outfile: resolve(file),
    version: NEXT_VERSION,
    commit: shortCommit(),
    plugins: [withMigration],
  });
}
