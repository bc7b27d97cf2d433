// The software bill of materials, as CycloneDX 1.6 in JSON.

import { createHash } from 'node:crypto';
import type { Component } from './inventory.ts';

type SbomOptions = {
  readonly version: string;
  /** Unix seconds of the release's commit. */
  readonly seconds: number;
  readonly components: readonly Component[];
};

const OWN_REFERENCE = 'tollgate';

/** The document is the same for the same components: its serial number is made of them. */
export function sbom({ version, seconds, components }: SbomOptions): string {
  const body = {
    metadata: {
      timestamp: new Date(seconds * 1_000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': OWN_REFERENCE,
        name: 'tollgate',
        version,
        licenses: [{ license: { id: 'MIT' } }],
      },
    },
    components: components.map(componentOf),
    dependencies: [
      { ref: OWN_REFERENCE, dependsOn: components.map(({ purl }) => purl) },
      ...components.map(({ purl }) => ({ ref: purl })),
    ],
  };
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(body))}`,
    version: 1,
    ...body,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function componentOf({ name, version, licence, purl, description, digest }: Component) {
  const [scope, rest] = name.startsWith('@') ? name.split('/') : [undefined, name];
  return {
    type: name === 'bun' ? 'platform' : 'library',
    'bom-ref': purl,
    ...(scope !== undefined && { group: scope }),
    name: rest ?? name,
    version,
    ...(description !== undefined && { description }),
    ...(digest !== undefined && { hashes: [digest] }),
    licenses: [{ license: { id: licence } }],
    purl,
  };
}

/** A UUID of version 8 (RFC 9562, section 5.8), whose bits are a digest. */
function uuidOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex');
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ];
  return parts.join('-');
}
