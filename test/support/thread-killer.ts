// Runs before a gateway's program: on SIGUSR2 the server thread that was started first, of those that
// still run, dies as if something in it had failed. The program itself has no such way.

const RealWorker = globalThis.Worker;
const running = new Set<Worker>();

globalThis.Worker = class extends RealWorker {
  constructor(...args: ConstructorParameters<typeof RealWorker>) {
    super(...args);
    if (!String(args[0]).includes('/entry.')) return;
    running.add(this);
    this.addEventListener('close', () => running.delete(this));
  }
};

process.on('SIGUSR2', () => {
  const [first] = running;
  first?.terminate();
});
