// Sign-in as a whole: who may enter the customers' application and the operator's console, and who
// is in. Made by the server; the command line makes the parts of it that it needs. The rest of the
// program knows `contract.ts`, and nothing of the library behind it.

import type { Keys } from '../keys.ts';
import type { ReadSession, Realm, SignedInCustomer, SignedInOperator } from '../signed-in.ts';
import type { RealmSignIn, SignIn } from './contract.ts';
import { createDeletion } from './deletion.ts';
import { createInvites } from './invites.ts';
import type { Library } from './library.ts';
import { createDropSecondFactor } from './lost-factor.ts';
import { createOperators } from './operators.ts';
import { createAudit, createLater, type SignInDependencies } from './parts.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import { createEntrance, type RealmParts } from './realm.ts';
import { createRecovery } from './recovery.ts';
import { createSessions } from './sessions.ts';
import { createAdoption, createSignUp } from './sign-up.ts';
import { createThrottle } from './throttle.ts';
import { createTokens } from './tokens.ts';
import { createTwoFactor } from './two-factor.ts';
import { createUsers } from './users.ts';

export function createSignIn(
  dependencies: SignInDependencies & {
    readonly keys: Pick<Keys, 'within'>;
    /** In place of passwords at full strength, for tests. */
    readonly passwords?: Passwords;
  },
): SignIn {
  const { later, settled } = createLater(dependencies.onTrouble);
  const parts = {
    ...dependencies,
    later,
    audit: createAudit(dependencies),
    passwords: dependencies.passwords ?? createPasswords(),
    throttle: createThrottle(dependencies),
    tokens: createTokens(dependencies),
    users: createUsers(dependencies),
  };
  const invites = createInvites(parts);
  const deletion = createDeletion({ ...parts, invites });
  const adoption = createAdoption(parts);

  const ofRealm = (realm: Realm): RealmParts => ({
    ...parts,
    realm,
    sessions: createSessions({ ...dependencies, realm }),
    library: loadedOnce(async () => {
      const { createLibrary } = await import('./library.ts');
      return createLibrary({ ...parts, realm });
    }),
  });
  const customers = ofRealm('customer');
  const staff = ofRealm('operator');

  const readCustomer: ReadSession<SignedInCustomer> = async (headers, look) => {
    const row = await customers.sessions.read(headers, look);
    if (row === undefined || row.accountId === null) return undefined;
    const { id: sessionId, userId, email, accountId, twoFactor, provenAt } = row;
    return { realm: 'customer', sessionId, userId, email, accountId, twoFactor, provenAt };
  };
  const readOperator: ReadSession<SignedInOperator> = async (headers, look) => {
    const row = await staff.sessions.read(headers, look);
    if (row === undefined) return undefined;
    const { id: sessionId, userId, email, twoFactor, provenAt } = row;
    return { realm: 'operator', sessionId, userId, email, twoFactor, provenAt };
  };

  const customer: RealmSignIn<SignedInCustomer> = {
    read: readCustomer,
    ...createEntrance<SignedInCustomer>(customers),
    ...createTwoFactor<SignedInCustomer>(customers),
    ...createRecovery<SignedInCustomer>({ ...customers, ...adoption }),
  };
  const operator: RealmSignIn<SignedInOperator> = {
    read: readOperator,
    ...createEntrance<SignedInOperator>(staff),
    ...createTwoFactor<SignedInOperator>(staff),
    ...createRecovery<SignedInOperator>({
      ...staff,
      ownerless: async () => undefined,
      adopt: adoption.adopt,
    }),
  };

  return {
    mode: dependencies.mode,
    customer: {
      ...customer,
      ...createSignUp({ ...customers, ...adoption, invites }),
      deletionDueAt: deletion.deletionDueAt,
      askDeletion: deletion.askDeletion,
      takeDeletionBack: deletion.takeDeletionBack,
    },
    operator,
    readCustomer,
    readOperator,
    operators: createOperators(parts),
    invites,
    dropSecondFactor: createDropSecondFactor(parts),
    links: {
      invite: (token) => `${dependencies.pages.customer()}/signup?invite=${token}`,
      welcome: (token) => `${dependencies.pages.operator()}/welcome?token=${token}`,
    },
    async sweep() {
      await deletion.sweep();
      await customers.sessions.sweep();
      await parts.users.sweep();
      await parts.tokens.sweep();
      await parts.throttle.sweep();
    },
    settled,
  };
}

/** One attempt at a time, and another one after a failure. */
function loadedOnce(load: () => Promise<Library>): () => Promise<Library> {
  let loading: Promise<Library> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
