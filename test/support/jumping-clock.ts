// Run before a gateway: on SIGUSR2 its wall clock jumps, as a clock does that is put right, and says
// so. By an hour ahead, or as far and to the side that CLOCK_JUMP_MS says.

const jumpMs = Number(process.env['CLOCK_JUMP_MS'] ?? 3_600_000);

const now = Date.now.bind(Date);
let aheadMs = 0;

Date.now = () => now() + aheadMs;

process.on('SIGUSR2', () => {
  aheadMs += jumpMs;
  process.stdout.write('the wall clock has jumped\n');
});

export {};
