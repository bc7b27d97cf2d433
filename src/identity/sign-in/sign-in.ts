// Constructs sign-in for the customers' application and the operator's console. Made by the server;
// the command line makes only `people.ts`. The rest of the program uses `contract.ts`.

import type { Keys } from '../keys.ts';
import type { ReadSession, Realm, SignedInCustomer, SignedInOperator } from '../signed-in.ts';
import { createChallenges } from './challenges.ts';
import type { SignIn } from './contract.ts';
import { createDeletion } from './deletion.ts';
import {
  createAudit,
  createLater,
  type Parts,
  type RealmParts,
  type SignInDependencies,
} from './dependencies.ts';
import { createEntrance } from './entrance.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import { createPeople } from './people.ts';
import { createRecovery } from './recovery.ts';
import { createSecondFactors } from './second-factors.ts';
import { createSelfService } from './self-service.ts';
import { createSessions, type SessionOfUser, type Sessions } from './sessions.ts';
import { createAdoption, createSignUp } from './sign-up.ts';
import { createThrottle } from './throttle.ts';
import { createTokens } from './tokens.ts';
import { createTwoFactor } from './two-factor.ts';
import { createUsers } from './users.ts';

export function createSignIn(
  dependencies: SignInDependencies & {
    readonly keys: Pick<Keys, 'within'>;
    /** Replaces passwords of full strength in tests. */
    readonly passwords?: Readonly<Record<Realm, Passwords>>;
  },
): SignIn {
  const { later, settled } = createLater(dependencies.onTrouble);
  const passwords = dependencies.passwords ?? createPasswords();
  const parts: Parts & Pick<typeof dependencies, 'keys'> = {
    ...dependencies,
    async mailTo(to, ...written) {
      dependencies.mail({ to, ...(await dependencies.writeMail(...written)) });
    },
    later,
    audit: createAudit(dependencies),
    throttle: createThrottle(dependencies),
    tokens: createTokens(dependencies),
    users: createUsers(dependencies),
    secondFactors: createSecondFactors(dependencies),
  };
  const people = createPeople({ ...parts, passwords: passwords.operator });
  const { invites } = people;
  const { sweep: closeAccounts, ...deletion } = createDeletion({ ...parts, invites });
  const adoption = createAdoption(parts);

  const ofRealm = (realm: Realm): RealmParts => ({
    ...parts,
    realm,
    passwords: passwords[realm],
    sessions: createSessions({ ...dependencies, realm }),
    challenges: createChallenges({ ...dependencies, realm }),
  });
  const shared = (of: RealmParts) => ({
    ...createEntrance(of),
    ...createSelfService(of),
    ...createTwoFactor(of),
  });
  const customers = ofRealm('customer');
  const operators = ofRealm('operator');

  return {
    ...people,
    mode: dependencies.mode,
    customer: {
      read: customerReader(customers.sessions),
      ...shared(customers),
      ...createRecovery({ ...customers, ...adoption }),
      ...createSignUp({ ...customers, ...adoption, invites }),
      ...deletion,
    },
    operator: {
      read: operatorReader(operators.sessions),
      ...shared(operators),
      ...createRecovery({ ...operators, ...adoption, ownerless: async () => undefined }),
    },
    links: {
      invite: (token) => `${dependencies.pages.customer()}/signup?invite=${token}`,
      welcome: (token) => `${dependencies.pages.operator()}/welcome?token=${token}`,
    },
    async sweep() {
      await closeAccounts();
      // Sessions and challenges of both realms.
      await customers.sessions.sweep();
      await customers.challenges.sweep();
      await parts.tokens.sweep();
      await parts.throttle.sweep();
      await invites.sweep();
    },
    settled,
  };
}

function customerReader(sessions: Sessions): ReadSession<SignedInCustomer> {
  return async (headers, look) => {
    const row = await sessions.read(headers, look);
    if (row === undefined || row.accountId === null) return undefined;
    return { realm: 'customer', accountId: row.accountId, ...signedIn(row) };
  };
}

function operatorReader(sessions: Sessions): ReadSession<SignedInOperator> {
  return async (headers, look) => {
    const row = await sessions.read(headers, look);
    if (row === undefined || row.role === null) return undefined;
    return { realm: 'operator', role: row.role, ...signedIn(row) };
  };
}

function signedIn({ id: sessionId, userId, email, twoFactor, provenAt, expiresAt }: SessionOfUser) {
  return { sessionId, userId, email, twoFactor, provenAt, expiresAt };
}
