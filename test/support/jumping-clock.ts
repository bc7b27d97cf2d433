// Preloaded by a gateway: on SIGUSR2 its wall clock jumps, as on a correction by NTP, and it prints
// a line. The jump is an hour ahead, or CLOCK_JUMP_MS.

const jumpMs = Number(process.env['CLOCK_JUMP_MS'] ?? 3_600_000);

const now = Date.now.bind(Date);
let aheadMs = 0;

Date.now = () => now() + aheadMs;

process.on('SIGUSR2', () => {
  aheadMs += jumpMs;
  process.stdout.write('the wall clock has jumped\n');
});

export {};
