// Certificates for tests, created for each run: they never run out, and no key lies in the checkout.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Certificate = {
  readonly key: string;
  readonly cert: string;
  /** Where the certificate lies, for settings that want a file. */
  readonly path: string;
  readonly [Symbol.dispose]: () => void;
};

/**
 * Signed by itself, for these names, as in `DNS:localhost,IP:127.0.0.1`. Needs the openssl command.
 */
export function makeCertificate(names: string): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-certificate-'));
  const keyPath = join(folder, 'key.pem');
  const path = join(folder, 'cert.pem');
  const made = Bun.spawnSync([
    'openssl',
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-keyout', keyPath, '-out', path, '-days', '2', '-subj', '/CN=test'],
    ...['-addext', `subjectAltName=${names}`],
  ]);
  if (!made.success) throw new Error(`no certificate: ${made.stderr.toString()}`);
  return {
    key: readFileSync(keyPath, 'utf8'),
    cert: readFileSync(path, 'utf8'),
    path,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
