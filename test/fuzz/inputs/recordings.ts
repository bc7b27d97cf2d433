// The recordings of test/golden, as seeds for mutations.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';

const ROOT = join(import.meta.dir, '..', '..', 'golden');

/** One of the recorded files with this extension, from anywhere below `test/golden`. */
export function recorded(extension: string): fc.Arbitrary<Uint8Array> {
  return fc.constantFrom(...recordedFiles(extension));
}

function recordedFiles(extension: string): Uint8Array[] {
  const paths = [...new Bun.Glob(`**/*.${extension}`).scanSync({ cwd: ROOT, onlyFiles: true })];
  return paths.sort().map((path) => new Uint8Array(readFileSync(join(ROOT, path))));
}

/** A section of a recorded case whose name matches, such as `client request (chat)`. */
export function recordedSection(name: RegExp): fc.Arbitrary<Uint8Array> {
  const sections = recordedFiles('txt').flatMap((bytes) => {
    const [, ...parts] = Buffer.from(bytes)
      .toString()
      .split(/^=== (.+) ===\n/m);
    return parts.flatMap((part, at) =>
      at % 2 === 1 && name.test(parts[at - 1] ?? '') ? [toBytes(part)] : [],
    );
  });
  return fc.constantFrom(...sections);
}

export function toBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text));
}
