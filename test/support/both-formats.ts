// Runs the same tests in each client format.

import { describe } from 'bun:test';
import { FORMATS, type Format } from './client.ts';

/** A group of tests for each format; its name begins with the format. */
export function describeInBothFormats(name: string, tests: (format: Format) => void): void {
  describe.each(FORMATS)(`%s: ${name}`, tests);
}
