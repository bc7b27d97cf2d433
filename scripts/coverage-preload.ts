// Counts branches while tests run, because Bun's coverage reports only lines and functions.
// Preloaded by coverage.ts; threads and the compiled program are not covered.

import { afterAll } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { plugin } from 'bun';
import { createInstrumenter } from 'istanbul-lib-instrument';

const VARIABLE = '__branches__';

const instrumenter = createInstrumenter({
  esModules: true,
  compact: false,
  coverageVariable: VARIABLE,
  parserPlugins: ['typescript', 'explicitResourceManagement'],
});

plugin({
  name: 'branches',
  setup(build) {
    build.onLoad({ filter: /\/src\/(?:core|ledger|limits)\/.*\.ts$/ }, async ({ path }) => ({
      contents: instrumenter.instrumentSync(await Bun.file(path).text(), path),
      loader: 'ts',
    }));
  },
});

afterAll(() => {
  const counted: unknown = Reflect.get(globalThis, VARIABLE);
  writeFileSync(process.env['COVERAGE_FILE'] ?? '', JSON.stringify(counted));
});
