// Addresses of images, which callers write.

import { expect, test } from 'bun:test';
import { imageFault } from '../../src/wire/image-type.ts';
import { cpuTimer } from '../support/cpu-time.ts';

test('an address whose host is too long for a name is refused before a URL parser reads it', () => {
  const cpuMs = cpuTimer();
  expect(imageFault(`https://${'é.'.repeat(300_000)}example/a.png`)).toContain('URL');
  // The parser takes nine seconds.
  expect(cpuMs()).toBeLessThan(2_000);
});

test('an address may have the longest name, and any length behind it', () => {
  const host = `${'a23456789.'.repeat(24)}example.com`;
  expect(imageFault(`https://${host}/${'é.'.repeat(300_000)}`)).toBeUndefined();
});
