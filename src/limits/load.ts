// Statistics of a process's limits: the mode, and how decisions were made. Shown by /readyz, the
// metrics and `tollgate nodes`.

/** own: a single node; cluster: all nodes are counted; share: each node counts its share. */
type LimitsMode = 'own' | 'cluster' | 'share';

export type LimitsLoad = {
  readonly mode: LimitsMode;
  /** `off` if none is configured. */
  readonly redis: 'off' | 'up' | 'down';
  /** Decisions from leased permits, after an exchange with Redis, and by the node's share. */
  readonly leased: number;
  readonly exchanged: number;
  readonly shared: number;
  /** Commands to Redis, one round trip each, and the failed ones. */
  readonly commands: number;
  readonly failures: number;
};

export const OWN_LIMITS: LimitsLoad = {
  mode: 'own',
  redis: 'off',
  leased: 0,
  exchanged: 0,
  shared: 0,
  commands: 0,
  failures: 0,
};
