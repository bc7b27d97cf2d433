// Runs the same tests in each client format.

import { describe } from 'bun:test';
import { EVERY_FORMAT, type EveryFormat } from './client.ts';

/** A group of tests for each format; its name begins with the format. */
export function describeInEveryFormat(name: string, tests: (format: EveryFormat) => void): void {
  describe.each(EVERY_FORMAT)(`%s: ${name}`, tests);
}
