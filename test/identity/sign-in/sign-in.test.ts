import { expect, test } from 'bun:test';
import { temporaryDirectory } from '../../support/database.ts';
import { createRig, PASSWORD } from './rig.ts';

const directory = temporaryDirectory();

test('x', async () => {
  const rig = createRig(directory);
  const t = performance.now();
  const browser = await rig.customer('a@example.com');
  console.log(performance.now() - t, browser.cookies, rig.mails, rig.troubles);
  const who = await rig.signIn.readCustomer(browser.visit().headers);
  console.log(who, rig.trail(), rig.signIn.customer.sessions(who!));
  const { uri, secret } = await rig.signIn.customer.startTwoFactor(who!);
  console.log(uri, secret);
  const { generate } = totp(secret);
  const r = await rig.signIn.customer.confirmTwoFactor(who!, generate(), browser.visit());
  console.log(r);
  browser.take(r.cookies);
  console.log(await rig.signIn.readCustomer(browser.visit().headers));
  const o = await rig.signIn.customer.signIn(
    { email: 'a@example.com', password: PASSWORD },
    browser.visit(),
  );
  console.log(o);
  browser.take(o.cookies);
  const s = await rig.signIn.customer.secondFactor(r.codes[0]!.toUpperCase(), browser.visit());
  console.log(s);
  browser.take(s.cookies);
  const w2 = await rig.signIn.readCustomer(browser.visit().headers);
  console.log(w2, await rig.signIn.customer.recoveryCodesLeft(w2!), rig.trail());
});

function totp(secret: string) {
  const bytes: number[] = [];
  let v = 0,
    b = 0;
  for (const c of secret) {
    v = (v << 5) | 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c);
    b += 5;
    if (b >= 8) {
      b -= 8;
      bytes.push((v >> b) & 255);
      v &= (1 << b) - 1;
    }
  }
  return {
    generate(at = Date.now()) {
      const { createHmac } = require('node:crypto');
      const buf = Buffer.alloc(8);
      buf.writeBigUInt64BE(BigInt(Math.floor(at / 30000)));
      const h = createHmac('sha1', Buffer.from(bytes)).update(buf).digest();
      const o = h[19] & 15;
      return String((h.readUInt32BE(o) & 0x7fffffff) % 1000000).padStart(6, '0');
    },
  };
}
