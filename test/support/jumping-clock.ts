// Run before a gateway: on SIGUSR2 its wall clock jumps an hour ahead, as a clock does that is put
// right, and says so.

const HOUR_MS = 3_600_000;

const now = Date.now.bind(Date);
let aheadMs = 0;

Date.now = () => now() + aheadMs;

process.on('SIGUSR2', () => {
  aheadMs += HOUR_MS;
  process.stdout.write('the wall clock has jumped\n');
});

export {};
