// Faults of what operators do to people and money, and of what customers are shown of it.

import type { Fault } from '../fault.ts';

const MONEY = ['test/operations/movements.test.ts', 'test/dashboard/operator/money.test.ts'];
const ACCESS = ['test/dashboard/operator/access.test.ts'];

export const PEOPLE: readonly Fault[] = [
  {
    id: 'T-110a',
    plants: 'money moves without an event in the audit trail',
    edits: [
      {
        file: 'src/ledger/credits.ts',
        find: 'if (movement.by !== undefined) {',
        put: "if (movement.by?.actor === '') {",
      },
    ],
    tests: MONEY,
  },
  {
    id: 'T-110b',
    plants: 'the id that a page made for its movement is not the one that is booked',
    edits: [
      {
        file: 'src/operations/movements.ts',
        find: "const id = given ?? createId('cred_', parts.randomBytes);",
        put: "const id = (given ?? '') && createId('cred_', parts.randomBytes);",
      },
    ],
    tests: MONEY,
  },
  {
    id: 'T-110c',
    plants: 'money can be moved by whoever finds a console open',
    edits: [
      {
        file: 'src/dashboard/operator/movements.ts',
        find: "    stepUpRoute({\n      method: 'POST',",
        put: "    (sessionRoute ?? stepUpRoute)({\n      method: 'POST',",
      },
    ],
    tests: ACCESS,
  },
  {
    id: 'T-110d',
    plants: 'an account that is activated is deleted all the same when its day comes',
    edits: [
      {
        file: 'src/operations/accounts.ts',
        find: "if (standing === 'active') {",
        put: "if (standing === 'suspended') {",
      },
    ],
    tests: ['test/dashboard/operator/accounts.test.ts'],
  },
  {
    id: 'T-110e',
    plants: 'a search tells capital letters from small ones',
    edits: [
      {
        file: 'src/operations/account-records.ts',
        find: "const email = text.trim().normalize('NFC').toLowerCase();",
        put: "const email = text.trim().normalize('NFC');",
      },
    ],
    tests: ['test/identity/searches.test.ts'],
  },
  {
    id: 'T-110f',
    plants: 'a page of accounts begins with the last one of the page before',
    edits: [
      {
        file: 'src/operations/account-records.ts',
        find: 'before === undefined ? undefined : lt(number, before),',
        put: 'before === undefined ? undefined : lt(number, before + 1),',
      },
    ],
    tests: ['test/identity/searches.test.ts'],
  },
  {
    id: 'T-110g',
    plants: 'a customer is told the story of a request of somebody else',
    edits: [
      {
        file: 'src/operations/requests.ts',
        find: 'if (story === undefined || story.hold.accountId !== accountId) throw notFound();',
        put: 'if (story === undefined || accountId === story.hold.keyId) throw notFound();',
      },
    ],
    tests: ['test/operations/customer-explanation.test.ts'],
  },
  {
    id: 'T-110h',
    plants: 'a customer is shown what the upstream reported, word for word',
    edits: [
      {
        file: 'src/operations/customer-explanation.ts',
        find: 'doubt: usage.doubt,',
        put: 'doubt: usage.doubt,\n            reported: usage.reported,',
      },
    ],
    tests: ['test/operations/customer-explanation.test.ts'],
  },
];
