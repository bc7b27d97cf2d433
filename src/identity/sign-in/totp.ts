// One-time codes of authenticator apps: TOTP (RFC 6238) over HOTP (RFC 4226), with SHA-1, six digits
// and steps of 30 s, because many apps ignore other parameters of the link.

import { createHmac, timingSafeEqual } from 'node:crypto';

const STEP_MS = 30_000;
const DIGITS = 6;

/** Accepted clock drift in steps, before and after the present one. */
const DRIFT = 1;

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function stepAt(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS);
}

export function codeAt(step: number, key: Uint8Array): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', key).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The latest time step with this `code`. Steps up to `lastStep` are used up. */
export function acceptedStep(
  code: string,
  key: Uint8Array,
  nowMs: number,
  lastStep: number,
): number | undefined {
  const given = Buffer.from(code);
  if (given.length !== DIGITS) return undefined;
  const now = stepAt(nowMs);
  let accepted: number | undefined;
  for (let step = Math.max(now - DRIFT, lastStep + 1); step <= now + DRIFT; step += 1) {
    if (timingSafeEqual(given, Buffer.from(codeAt(step, key)))) accepted = step;
  }
  return accepted;
}

/** The data for an authenticator app, typed or as a QR code. */
export function enrolment(
  key: Uint8Array,
  issuer: string,
  email: string,
): { readonly uri: string; readonly secret: string } {
  const secret = base32(key);
  const name = encodeURIComponent(issuer);
  const label = `${name}:${encodeURIComponent(email)}`;
  const uri = `otpauth://totp/${label}?secret=${secret}&issuer=${name}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1_000}`;
  return { uri, secret };
}

/** RFC 4648 without padding, as authenticator apps expect it. */
function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.replace(/.{1,5}/g, (five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)] ?? '');
}
