// Inputs that once broke a law, kept as files so that both runners try them again.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dir, 'found');

export type Found = {
  /** The name of the law. */
  readonly name: string;
  readonly input: unknown;
};

/** Every kept input, in a fixed order. */
export function foundInputs(): (Found & { readonly file: string })[] {
  return readdirSync(FOLDER)
    .sort()
    .map((file) => ({ file, ...readFound(join(FOLDER, file)) }));
}

export function readFound(path: string): Found {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Keeps an input and returns the path of its file. The same input is always the same file. */
export function keepFound(found: Found): string {
  const text = `${JSON.stringify(found, undefined, 2)}\n`;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 8);
  const words = found.name.replace(/[^a-z]+/gi, '-').slice(0, 40);
  mkdirSync(FOLDER, { recursive: true });
  const path = join(FOLDER, `${words}-${digest}.json`.toLowerCase());
  writeFileSync(path, text);
  return path;
}
