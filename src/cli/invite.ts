// `tollgate invite …`: invitations to sign up, for a server with SIGNUP=invite. The link is printed
// only at its creation.

import type { Command } from 'commander';
import { publicUrl } from '../config/urls.ts';
import { inviteRecord } from '../operations/people.ts';
import { addCommand, addGroup, OPERATOR, type Output, type Perform, shortTime } from './command.ts';
import type { Context } from './context.ts';
import { listOutput, shortInstant } from './list-output.ts';
import { openPeople } from './operator.ts';
import { parseExpiry } from './parse.ts';

export function addInviteCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'invite', 'invite people to sign up');
  perform<CreateOptions>(
    addCommand(group, 'create', 'make an invitation, and print its link')
      .option('--email <address>', 'the only address that may use it')
      .option('--expires <date>', 'when it expires, such as 2027-01-31 (default: after two weeks)'),
    create,
  );
  perform(addCommand(group, 'list', 'list all invitations, without their links'), list);
  perform(
    addCommand(group, 'revoke <id>', 'revoke an invitation'),
    async (context, _options, id = '') => {
      const invite = await (await openPeople(context)).invites.revoke(id, OPERATOR);
      const record = inviteRecord(invite, context.clock());
      return { json: { invite: record }, text: `Invitation ${invite.id} is ${record.status}.` };
    },
  );
}

type CreateOptions = { readonly email?: string; readonly expires?: string };

async function create(context: Context, options: CreateOptions): Promise<Output> {
  const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires);
  const facts = { email: options.email, expiresAt };
  const { invite, token } = await (await openPeople(context)).invites.create(facts, OPERATOR);
  const config = context.config();
  const link = `${publicUrl(config, config.port)}/dashboard/signup?invite=${token}`;
  const whom = invite.email === null ? 'Anyone with this link' : invite.email;
  return {
    json: { invite: inviteRecord(invite, context.clock()), token, link },
    text: `${whom} may sign up once, until ${shortTime(invite.expiresAt)} UTC:\n${link}`,
  };
}

async function list(context: Context): Promise<Output> {
  const now = context.clock();
  const invites = await (await openPeople(context)).invites.list();
  const records = invites.map((invite) => inviteRecord(invite, now));
  return listOutput(records, ['ID', 'FOR', 'STATUS', 'CREATED', 'EXPIRES'], (invite) => [
    invite.id,
    invite.email ?? 'anyone',
    invite.status,
    shortInstant(invite.created_at),
    shortInstant(invite.expires_at),
  ]);
}
