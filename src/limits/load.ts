// How the limits of a process do, as numbers: who decides, and how often each
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
