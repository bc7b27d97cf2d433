// The records of users and invites that the command line and the console show.

import { isoTime } from '../core/calendar.ts';
import { type Invite, inviteStatus } from '../identity/sign-in/invites.ts';
import type { User } from '../identity/sign-in/users.ts';

export function inviteRecord(invite: Invite, nowMs: number) {
  return {
    id: invite.id,
    object: 'invite',
    email: invite.email,
    status: inviteStatus(invite, nowMs),
    created_at: isoTime(invite.createdAt),
    expires_at: isoTime(invite.expiresAt),
  } as const;
}

export function operatorRecord(user: User) {
  return {
    id: user.id,
    object: 'operator',
    email: user.email,
    role: user.role,
    two_factor: user.twoFactorEnabled,
    created_at: isoTime(user.createdAt),
  } as const;
}
