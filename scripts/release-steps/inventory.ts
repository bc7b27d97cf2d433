// What is inside the executable: our own code, the packages that the bundler took, and Bun. From it
// come the SBOM and the licences.

import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dir, '../..');
const OWN_TEXTS = join(import.meta.dir, 'licences');

export type Component = {
  readonly name: string;
  readonly version: string;
  /** An SPDX identifier. */
  readonly licence: string;
  readonly licenceText: string;
  /** SHA-512 of the package as published, in hexadecimal digits; from bun.lock. */
  readonly sha512: string | undefined;
  /** A package URL, as its specification writes it. */
  readonly purl: string;
};

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
};

/** `folders` are those that the build reports. Throws where a package says no licence. */
export async function inventory(
  folders: readonly string[],
  bunVersion: string,
): Promise<readonly Component[]> {
  const lock = await readLock();
  const packages = await Promise.all(folders.map((folder) => readPackage(folder, lock)));
  return [...packages.toSorted((a, b) => compare(a.purl, b.purl)), await bunComponent(bunVersion)];
}

async function readPackage(folder: string, lock: Lock): Promise<Component> {
  const path = join(root, folder);
  const manifest: Manifest = await Bun.file(join(path, 'package.json')).json();
  const { name, version, license: licence } = manifest;
  if (licence === undefined) throw new Error(`The package ${name} says no licence.`);
  return {
    ...{ name, version, licence },
    licenceText: await licenceText(path, name, licence),
    sha512: lock.get(`${name}@${version}`),
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
  };
}

/** The package's own file; a package without one gets the text of its SPDX identifier. */
async function licenceText(folder: string, name: string, licence: string): Promise<string> {
  const file = readdirSync(folder).find((entry) => /^(?:licen[cs]e|copying)/i.test(entry));
  const path = file === undefined ? join(OWN_TEXTS, `${licence}.txt`) : join(folder, file);
  const text = await Bun.file(path)
    .text()
    .catch(() => '');
  if (text.trim() === '') throw new Error(`The package ${name} (${licence}) has no licence text.`);
  return text.trim();
}

async function bunComponent(version: string): Promise<Component> {
  return {
    name: 'bun',
    version,
    licence: 'MIT',
    licenceText: (await Bun.file(join(OWN_TEXTS, 'bun.txt')).text()).trim(),
    sha512: undefined,
    purl: `pkg:npm/bun@${version}`,
  };
}

/** SHA-512 by `name@version`. */
type Lock = ReadonlyMap<string, string>;

/** bun.lock is JSON with trailing commas; an entry ends in the digest of its archive. */
async function readLock(): Promise<Lock> {
  const text = await Bun.file(join(root, 'bun.lock')).text();
  const entries = text.matchAll(
    /\["((?:@[^/"]+\/)?[^@"]+@[^"]+)",.*"sha512-([A-Za-z0-9+/=]+)"\],?$/gm,
  );
  return new Map(
    [...entries].map(([, spec = '', digest = '']) => [
      spec,
      Buffer.from(digest, 'base64').toString('hex'),
    ]),
  );
}

/** The licences of all that is inside, one after the other. */
export function licencesText(components: readonly Component[], ownLicence: string): string {
  const parts = components.map(
    ({ name, version, licence, licenceText: text }) =>
      `${name} ${version} (${licence})\n\n${text}\n`,
  );
  const rule = `\n${'-'.repeat(80)}\n\n`;
  return [
    `Tollgate is under this licence:\n\n${ownLicence.trim()}\n\nIts executable also contains:\n`,
  ]
    .concat(parts)
    .join(rule);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
