// The suites of `scripts/clients`: which of their tests run, and which fail because of the
// specification. A row that matches no failure fails the run, so that stale rows are removed.

import type { WireDialect } from '../../test/support/render.ts';

export type Suite = {
  readonly name: string;
  /** A folder below .tools/clients, or below this one. */
  readonly folder: string;
  readonly arguments: readonly string[];
};

export type Exception = {
  readonly suite: string;
  /** The upstream that it concerns; all where it is absent. */
  readonly upstream?: WireDialect;
  /** A part of the names of the tests. */
  readonly tests: RegExp;
  readonly reason: string;
};

export const SUITES: readonly Suite[] = [
  {
    name: 'openai-python',
    folder: 'openai',
    // Stored completions and the deletion of models are not offered.
    arguments: [
      'tests/api_resources/chat/test_completions.py',
      'tests/api_resources/test_models.py',
      '-k',
      '(TestCompletions or TestAsyncCompletions) and create or (TestModels or TestAsyncModels) and not delete',
    ],
  },
  {
    name: 'anthropic-sdk-python',
    folder: 'anthropic',
    arguments: [
      'tests/api_resources/test_messages.py',
      'tests/api_resources/test_models.py',
      'tests/api_resources/beta/test_messages.py',
      'tests/api_resources/beta/test_models.py',
    ],
  },
  { name: 'langchain-tests', folder: 'python', arguments: ['test_langchain.py'] },
  { name: 'schemathesis', folder: 'python', arguments: ['test_specs.py'] },
];

export const EXCEPTIONS: readonly Exception[] = [
  {
    suite: 'langchain-tests',
    tests: /TestChatAnthropicBySchema::test_structured_output_pydantic_2_v1$/,
    reason: 'ChatAnthropic itself cannot turn a model of pydantic 1 into a schema; nothing is sent',
  },
];
