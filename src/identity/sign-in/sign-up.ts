// Signs up customers. Until the address is verified there is no user, account or session: only a
// row with the address, a hash of the password and the digest of a mailed token.
//
// The mailed page asks for the password again. Otherwise a stranger could sign up with an address
// and wait until its owner, who meant to sign up as well or clicks any link, verifies it; then the
// stranger's password would open the owner's account. So verification takes both the mail and the
// password of that sign-up. An address may have several pending sign-ups, and the first to be
// verified ends the others: the owner's account keeps no password, session or key of a stranger.
//
// An account that the operator created for the address goes to its verified owner.

import { DEFAULT_PLAN } from '../../core/plan.ts';
import { IdentityError } from '../error.ts';
import type { SignInOutcome, SignUp } from './contract.ts';
import { actorOfUser, type RealmParts, signInEmail } from './dependencies.ts';
import { admit } from './entrance.ts';
import type { Invites } from './invites.ts';
import { alreadySignedUpMail, verificationMail } from './mails.ts';
import { requirePassword } from './passwords.ts';

export function createSignUp(
  parts: RealmParts & {
    readonly invites: Invites;
    readonly adopt: (email: string, address: string) => Promise<string>;
  },
): SignUp {
  const { realm, database, mode, passwords, throttle, tokens, users, invites, audit } = parts;

  /** The invitation to use up, where one is required. Throws. */
  async function requireOpen(email: string, invite: string | undefined): Promise<string | null> {
    if (mode === 'open') return null;
    if (mode === 'invite' && invite !== undefined) return (await invites.find(invite, email)).id;
    throw new IdentityError(
      'sign_up_closed',
      mode === 'invite'
        ? 'Signing up needs an invitation. Ask the operator for one.'
        : 'Signing up is closed. Ask the operator for an account.',
    );
  }

  return {
    async signUp(given, { address, headers }) {
      const email = signInEmail(given.email);
      const wanted = requirePassword(given.password);
      await throttle.limitNetwork(realm, address);
      const invite = await requireOpen(email, given.invite);
      // Taken addresses hash as well, so that both take the same time.
      const password = await passwords.hash(wanted);
      parts.later(async () => {
        if (!(await throttle.mayMail(realm, email, address))) return;
        // Stored for taken addresses as well, but never sent: the same work for both.
        const facts = { realm, purpose: 'sign-up', email } as const;
        const token = await tokens.create({ ...facts, password, invite });
        const pages = parts.pages[realm]();
        const isTaken = (await users.find(realm, email)) !== undefined;
        const letter = isTaken ? alreadySignedUpMail(pages) : verificationMail(pages, token);
        await parts.mailTo(email, letter, headers);
      });
    },

    async verifyEmail({ token: text, password }, visit) {
      const { address } = visit;
      await throttle.limitNetwork(realm, address);
      const token = await tokens.find(realm, ['sign-up'], text);
      const { email, password: hash, invite } = token;
      const entry = await throttle.enter({ realm, kind: 'token', name: email, address });
      const isRight = hash !== null && (await entry.checked(passwords.verify(password, hash)));
      if (!isRight) throw wrongPasswordOfSignUp();
      await entry.succeeded();
      if (mode === 'closed' || (mode === 'invite' && invite === null))
        await requireOpen(email, undefined);
      const outcome = await database.transaction(async (): Promise<SignInOutcome> => {
        // It may have been used while the password was checked.
        await tokens.take(token);
        if ((await users.find(realm, email)) !== undefined) throw taken();
        await tokens.removeFor(realm, email, ['sign-up', 'reset']);
        // One transaction: an account without its user would accept a "forgot password" from its
        // address.
        const accountId = await parts.adopt(email, address);
        const user = await users.create({ realm, email, accountId, password: hash });
        if (invite !== null) await invites.use(invite, user.id);
        await audit(user, 'user.created', actorOfUser(user, address), { with: 'sign-up' });
        return { status: 'signed_in', cookies: [await admit(parts, user, visit, 'sign-up')] };
      });
      await throttle.know({ realm, name: email, address });
      return outcome;
    },
  };
}

function wrongPasswordOfSignUp(): IdentityError {
  return new IdentityError(
    'invalid_credentials',
    'This is not the password that you chose when you signed up. Try again, or sign up once more.',
  );
}

function taken(): IdentityError {
  return new IdentityError('invalid_token', 'This address is verified already. Sign in.');
}

/** The account for a verified address: the one that the operator created for it, or a new one. */
export function createAdoption({ accounts, users }: Pick<RealmParts, 'accounts' | 'users'>) {
  async function find(email: string): Promise<string | undefined> {
    try {
      return (await accounts.find(email)).id;
    } catch (error) {
      if (error instanceof IdentityError && error.code === 'account_not_found') return undefined;
      throw error;
    }
  }

  return {
    async ownerless(email: string): Promise<string | undefined> {
      const id = await find(email);
      return id === undefined || (await users.ofAccount(id)) !== undefined ? undefined : id;
    },
    /** Call inside a transaction. */
    async adopt(email: string, address: string): Promise<string> {
      const { create, verifyEmail } = accounts.within;
      const found = await find(email);
      if (found !== undefined) return (await verifyEmail(found, { name: found, address })).id;
      const actor = { name: 'visitor', address };
      return (await create({ email, plan: DEFAULT_PLAN, emailVerified: true }, actor)).id;
    },
  };
}
