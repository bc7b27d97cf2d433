// Draws a text as a QR code in the page, so that the secret of a second factor goes to no other
// server. Loaded only where a second factor is set up.

import { encode } from 'uqr';

/**
 * Row by row; dark modules are true. Without the quiet zone around them. Throws above 666 bytes, whose
 * code a phone could hardly read.
 */
export function encodeQr(text: string): readonly (readonly boolean[])[] {
  return encode(text, { ecc: 'M', border: 0, maxVersion: 20 }).data;
}
