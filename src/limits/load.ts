// How the limits of a process do, as numbers that threads can add up: who decides, and how often each
// way was gone. Shown by /readyz, the metrics and `tollgate nodes`.

/** own: this node is all there is; cluster: all nodes are counted; share: each counts for itself. */
type LimitsMode = 'own' | 'cluster' | 'share';

export type LimitsLoad = {
  readonly mode: LimitsMode;
  /** `off` where none is set. */
  readonly redis: 'off' | 'up' | 'down';
  /** Decisions: by what was leased, after an exchange with Redis, and by the share of the node. */
  readonly leased: number;
  readonly exchanged: number;
  readonly shared: number;
  /** Commands to Redis, each one way there and back; and those that failed. */
  readonly commands: number;
  readonly failures: number;
};

export const OWN_LIMITS: LimitsLoad = {
  ...{ mode: 'own', redis: 'off' },
  ...{ leased: 0, exchanged: 0, shared: 0, commands: 0, failures: 0 },
};

/** Of two threads; where they differ, what is worse. */
export function addLimitsLoads(a: LimitsLoad, b: LimitsLoad): LimitsLoad {
  const modes = [a.mode, b.mode];
  const states = [a.redis, b.redis];
  return {
    mode: modes.includes('share') ? 'share' : modes.includes('cluster') ? 'cluster' : 'own',
    redis: states.includes('down') ? 'down' : states.includes('up') ? 'up' : 'off',
    leased: a.leased + b.leased,
    exchanged: a.exchanged + b.exchanged,
    shared: a.shared + b.shared,
    commands: a.commands + b.commands,
    failures: a.failures + b.failures,
  };
}
