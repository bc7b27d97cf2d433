// The roles of operators and what each may do in the console. Each route of the console names the
// permission that it needs, and the console's guard enforces it.

export const ROLES = ['viewer', 'support', 'finance', 'admin'] as const;

export type Role = (typeof ROLES)[number];

type Grant = {
  /** Completes "… may" in errors and on the page for operators. */
  readonly allows: string;
  readonly roles: readonly Role[];
};

/** The rows of the table in the documentation for operators, in this order. */
export const PERMISSIONS = {
  'sign-in.own': { allows: 'manage their own sign-in', roles: ROLES },
  view: { allows: 'see all pages but API tokens', roles: ROLES },
  'alerts.acknowledge': {
    allows: 'acknowledge alerts',
    roles: ['support', 'finance', 'admin'],
  },
  'accounts.manage': {
    allows:
      'create, verify, suspend and close accounts, change plans, invite customers, and remove a lost second factor',
    roles: ['support', 'admin'],
  },
  'keys.manage': { allows: 'create, rotate and revoke API keys', roles: ['support', 'admin'] },
  'blocks.manage': {
    allows: 'block and unblock accounts, keys and networks',
    roles: ['support', 'admin'],
  },
  'money.move': {
    allows: 'add credits, correct balances, create and revoke codes, and decide on approvals',
    roles: ['finance', 'admin'],
  },
  'prices.preview': {
    allows: 'check price drafts and recalculate past months',
    roles: ['finance', 'admin'],
  },
  'accounts.export': { allows: 'export all accounts', roles: ['finance', 'admin'] },
  'audit.run': { allows: 'start an audit of the ledger', roles: ['finance', 'admin'] },
  'service.manage': {
    allows: 'change upstreams, models, plans, prices, the catalog and maintenance',
    roles: ['admin'],
  },
  'operators.manage': {
    allows: 'create, reset and remove operators, and change their roles',
    roles: ['admin'],
  },
  'tokens.manage': { allows: 'see, create and revoke API tokens', roles: ['admin'] },
} as const satisfies Readonly<Record<string, Grant>>;

export type Permission = keyof typeof PERMISSIONS;

const NAMES = Object.keys(PERMISSIONS) as Permission[];

export function permits(role: Role, permission: Permission): boolean {
  return rolesWith(permission).includes(role);
}

export function rolesWith(permission: Permission): readonly Role[] {
  return PERMISSIONS[permission].roles;
}

export function permissionsOf(role: Role): readonly Permission[] {
  return NAMES.filter((permission) => permits(role, permission));
}

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
