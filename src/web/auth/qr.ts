// Encodes text as a QR code in the browser, so that the TOTP secret is sent to no other server.
// Loaded only where two-factor authentication is set up.

import { encode } from 'uqr';

/**
 * The modules row by row (true is dark), without the quiet zone. Throws above 666 bytes, because a
 * phone can hardly read a larger code.
 */
export function encodeQr(text: string): readonly (readonly boolean[])[] {
  return encode(text, { ecc: 'M', border: 0, maxVersion: 20 }).data;
}
