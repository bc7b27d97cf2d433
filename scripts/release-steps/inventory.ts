// What is inside a release: our own code, the packages that the bundler took, Bun, and the C library
// of the image. From it come the SBOM and the licences.

import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as library from './container/packages.json';

const root = resolve(import.meta.dir, '../..');
const OWN_TEXTS = join(import.meta.dir, 'licences');

export type Component = {
  readonly name: string;
  readonly version: string;
  /** An SPDX identifier. */
  readonly licence: string;
  readonly licenceText: string;
  readonly description?: string;
  /** Of the package as published, in hexadecimal digits. */
  readonly digest?: { readonly alg: 'SHA-256' | 'SHA-512'; readonly content: string };
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
  return [
    ...packages.toSorted((a, b) => compare(a.purl, b.purl)),
    await bunComponent(bunVersion),
    ...(await libraryComponents()),
  ];
}

async function readPackage(folder: string, lock: Lock): Promise<Component> {
  const path = join(root, folder);
  const manifest: Manifest = await Bun.file(join(path, 'package.json')).json();
  const { name, version, license: licence } = manifest;
  if (licence === undefined) throw new Error(`The package ${name} says no licence.`);
  const content = lock.get(`${name}@${version}`);
  return {
    ...{ name, version, licence },
    licenceText: await licenceText(path, name, licence),
    ...(content !== undefined && { digest: { alg: 'SHA-512', content } }),
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

/** With the licence of JavaScriptCore, whose text has to come with it. */
async function bunComponent(version: string): Promise<Component> {
  const texts = [await ownText('bun'), await ownText('LGPL-2')];
  return {
    name: 'bun',
    version,
    licence: 'MIT',
    licenceText: texts.join('\n\n'),
    purl: `pkg:npm/bun@${version}`,
  };
}

/** Debian's C library, once for each architecture of the image. */
async function libraryComponents(): Promise<readonly Component[]> {
  const { name, version, sha256 } = library;
  const text = await ownText('LGPL-2.1');
  return Object.entries(sha256).map(([architecture, content]) => ({
    ...{ name, version, licence: 'LGPL-2.1-or-later', licenceText: text },
    description: `In the container image for ${architecture} only`,
    digest: { alg: 'SHA-256', content },
    purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`,
  }));
}

const ownText = async (name: string): Promise<string> =>
  (await Bun.file(join(OWN_TEXTS, `${name}.txt`)).text()).trim();

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
  // A library has one text for all of its architectures.
  const parts = new Set(
    components.map(
      ({ name, version, licence, licenceText: text }) =>
        `${name} ${version} (${licence})\n\n${text}\n`,
    ),
  );
  const rule = `\n${'-'.repeat(80)}\n\n`;
  const own = `Tollgate is under this licence:\n\n${ownLicence.trim()}\n\nIts releases also contain:\n`;
  return [own, ...parts].join(rule);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
