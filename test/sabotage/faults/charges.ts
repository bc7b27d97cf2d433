// Faults of what a request costs: usage, prices, holds that grow, and how requests end.

import type { Fault } from '../fault.ts';

const GROWING = 'test/blackbox/growing.test.ts';
const ENDINGS = 'test/blackbox/endings.test.ts';

export const CHARGES: readonly Fault[] = [
  {
    id: 'S-05',
    plants: 'an answer whose client has left is not settled',
    edits: [
      {
        file: 'src/generate/generate.ts',
        find: "      await finish(dependencies, admitted, 'client', { attempt });\n      return '';",
        put: "      return '';",
      },
    ],
    tests: [ENDINGS],
  },
  {
    id: 'S-06a',
    plants: 'a report of no output is taken for no report',
    edits: [
      {
        file: 'src/core/usage.ts',
        find: 'if (reported === undefined) return',
        put: "if (reported === undefined || ('outputTokens' in reported && !reported.outputTokens))\n    return",
      },
    ],
    tests: ['test/core/usage.test.ts'],
  },
  {
    id: 'S-06b',
    plants: 'a count of zero in a chat upstream’s report is taken for none',
    edits: [
      {
        file: 'src/wire/upstream/chat/usage.ts',
        find: "if (isMissing(value['prompt_tokens']) && isMissing(value['completion_tokens'])) return",
        put: "if (!value['prompt_tokens'] || !value['completion_tokens']) return",
      },
    ],
    tests: ['test/wire/upstream/chat'],
  },
  {
    id: 'S-06c',
    plants: 'a count of zero in a Messages upstream’s report is taken for none',
    edits: [
      {
        file: 'src/wire/upstream/messages/usage.ts',
        find: "if (!counts.has('input_tokens') || outputTokens === undefined) return",
        put: "if (!counts.get('input_tokens') || !outputTokens) return",
      },
    ],
    tests: ['test/wire/upstream/messages'],
  },
  {
    id: 'S-20a',
    plants: 'a fallback costs what the requested model would have',
    edits: [
      {
        file: 'src/core/price.ts',
        find: 'return smaller(own, charge(usage, requested));',
        put: 'return smaller(charge(usage, requested), charge(usage, requested));',
      },
    ],
    tests: ['test/core/price.test.ts'],
  },
  {
    id: 'S-20b',
    plants: 'the price of the model that served is not asked for',
    edits: [
      {
        file: 'src/generate/grant.ts',
        find: 'const charge = chargeServed(usage, price, candidate.price);',
        put: 'const charge = chargeServed(usage, price, price);',
      },
    ],
    tests: ['test/blackbox/money.test.ts'],
    only: 'a fallback',
  },
  {
    id: 'S-20c',
    plants: 'a recovery charges a fallback the price of the requested model',
    edits: [
      {
        file: 'src/ledger/recover.ts',
        find: 'chargeServed(usage, await prices.read(hold.priceVersion), served.price)',
        put: 'chargeServed(usage, await prices.read(hold.priceVersion), await prices.read(hold.priceVersion))',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'S-21',
    plants: 'negative counts of an upstream are believed',
    edits: [
      {
        file: 'src/wire/upstream/narrow.ts',
        find: '|| value < 0 || value',
        put: '|| value',
      },
    ],
    tests: ['test/wire/upstream'],
  },
  {
    id: 'T-20',
    plants: 'a report whose parts do not make up its total is believed',
    edits: [
      {
        file: 'src/wire/upstream/chat/usage.ts',
        find: 'hidden, hidden);\n  return undefined;',
        put: 'hidden, hidden);\n  return usageOf(counts, prompt, completion, reasoning);',
      },
    ],
    tests: ['test/wire/upstream/chat'],
  },
  {
    id: 'T-21',
    plants: 'a report of more cached tokens than the prompt has is believed',
    edits: [
      {
        file: 'src/wire/upstream/chat/usage.ts',
        find: 'if (cached + written > inputTokens || reasoningTokens',
        put: 'if (reasoningTokens',
      },
    ],
    tests: ['test/wire/upstream/chat'],
  },
  {
    id: 'T-22',
    plants: 'a report of far more output than the bound is believed',
    edits: [
      {
        file: 'src/core/usage.ts',
        find: 'outputBound + OVERRUN_TOKENS)',
        put: 'outputBound * OVERRUN_TOKENS)',
      },
    ],
    tests: ['test/core/usage.test.ts'],
  },
  {
    id: 'T-23',
    plants: 'our own count is charged beyond the bound of the caller',
    edits: [
      {
        file: 'src/core/usage.ts',
        find: 'if (usage.outputTokens <= outputBound) return usage;',
        put: 'if (usage.outputTokens <= outputBound * 2) return usage;',
      },
    ],
    tests: ['test/core/usage.test.ts'],
  },
  {
    id: 'T-24a',
    plants: 'a request costs the price of the moment when it ends',
    edits: [
      {
        file: 'src/generate/grant.ts',
        find: "import type { Candidate } from '../core/route.ts';",
        put: "import { priceAt } from '../core/price-book.ts';\nimport type { Candidate } from '../core/route.ts';",
      },
      {
        file: 'src/generate/grant.ts',
        find: 'const charge = chargeServed(usage, price, candidate.price);',
        put: `const now = priceAt(candidate.model.prices, clock());
    const charge = chargeServed(usage, price.version === now.version ? price : now, now);`,
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
  {
    id: 'T-24b',
    plants: 'a request costs the price of the moment when its upstream is asked',
    edits: [
      {
        file: 'src/generate/generate.ts',
        find: 'affinity, outputBound, startedAt: call.startedAt };',
        put: 'affinity, outputBound, startedAt: dependencies.clock() };',
      },
      {
        file: 'src/generate/check.ts',
        find: 'const price = priceAt(model.prices, call.startedAt);',
        put: 'const price = priceAt(model.prices, dependencies.clock());',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
  {
    id: 'T-25a',
    plants: 'a total is rounded down',
    edits: [
      {
        file: 'src/core/money.ts',
        find: '(numerator + denominator / 2n) / denominator',
        put: 'numerator / denominator',
      },
    ],
    tests: ['test/core/price.test.ts'],
    only: 'exact total',
  },
  {
    id: 'T-25b',
    plants: 'a request reserves less than the least that is to be reserved',
    edits: [
      {
        file: 'src/core/price.ts',
        find: 'Math.min(outputBound, SLICE_TOKENS), price), minimum);',
        put: 'Math.min(outputBound, SLICE_TOKENS), price), micro(minimum * 0n));',
      },
    ],
    tests: ['test/core/price.test.ts'],
  },
  {
    id: 'T-26a',
    plants: 'a hold grows in memory, and the ledger hears nothing of it',
    edits: [
      {
        file: 'src/generate/funded-output.ts',
        find: 'const { ok, available, uncovered } = await ledger.extend({ requestId, amount, excess });',
        put: `const granted: Awaited<ReturnType<typeof ledger.extend>> = {
        ok: requestId !== '',
        available: held,
      };
      const { ok, available, uncovered } = granted;`,
      },
    ],
    tests: ['test/generate/guard.test.ts'],
  },
  {
    id: 'T-26b',
    plants: 'the next slice is bought after its tokens were passed on',
    edits: [
      {
        file: 'src/generate/guard.ts',
        find: 'if (!isShort || !pushIfCovered(event)) return',
        put: 'if (!pushIfCovered(event)) meter.push(event);\n      if (!isShort) return',
      },
    ],
    tests: ['test/generate/guard.test.ts'],
  },
  {
    id: 'T-26k',
    plants: 'text beyond the bound is passed on although no report vouches for it',
    edits: [
      {
        file: 'src/generate/overrun.ts',
        find: 'return kept ? { events: held, end } : drop();',
        put: 'return kept || end === "finished" ? { events: held, end } : drop();',
      },
    ],
    tests: ['test/generate/guard.test.ts'],
  },
  {
    id: 'T-26l',
    plants: 'a prompt that cannot be true costs our own count',
    edits: [
      {
        file: 'src/core/usage.ts',
        find: 'Math.max(own.inputTokens, Math.min(reported.inputTokens, contextWindow))',
        put: 'Math.max(own.inputTokens, Math.min(own.inputTokens, contextWindow))',
      },
    ],
    tests: ['test/core/usage.test.ts'],
  },
  {
    id: 'T-26c',
    plants: 'a cut leaves the upstream running',
    edits: [
      {
        file: 'src/generate/guard.ts',
        find: '      abort();\n',
        put: '      void abort;\n',
      },
    ],
    tests: ['test/generate/metered-attempt.test.ts'],
  },
  {
    id: 'T-27',
    plants: 'an upstream is told a bound that the balance could never pay',
    edits: [
      {
        file: 'src/generate/grant.ts',
        find: 'return Math.min(outputBound, Math.max(SLICE_TOKENS, affordable));',
        put: 'return Math.max(outputBound, Math.min(SLICE_TOKENS, affordable));',
      },
    ],
    tests: ['test/blackbox/money.test.ts'],
    only: 'the reservation',
  },
  {
    id: 'T-28a',
    plants: 'an answer that was cut for lack of money is told as complete',
    edits: [
      {
        file: 'src/core/outcome.ts',
        find: "return { outcome: 'stopped_balance', charge: 'counted' };",
        put: "return { outcome: 'completed', charge: 'counted' };",
      },
    ],
    tests: ['test/core/outcome.test.ts'],
  },
  {
    id: 'T-28b',
    plants: 'an answer that ended at the bound of the balance is told as complete',
    edits: [
      {
        file: 'src/core/outcome.ts',
        find: "lengthOfBalance ? 'stopped_balance' : 'completed'",
        put: "lengthOfBalance ? 'completed' : 'completed'",
      },
    ],
    tests: ['test/core/outcome.test.ts'],
  },
  {
    id: 'T-28c',
    plants: 'a chat stream says `completed` whatever the outcome is',
    edits: [
      {
        file: 'src/wire/chat/stream.ts',
        find: 'svc_outcome: receipt.outcome',
        put: "svc_outcome: 'completed'",
      },
    ],
    tests: ['test/blackbox/growing.test.ts'],
  },
  {
    id: 'T-28d',
    plants: 'a Messages stream says `completed` whatever the outcome is',
    edits: [
      {
        file: 'src/wire/messages/frames.ts',
        find: 'svc_outcome: receipt.outcome',
        put: "svc_outcome: 'completed'",
      },
    ],
    tests: ['test/wire/messages/stream.test.ts'],
  },
  {
    id: 'T-28e',
    plants: 'the pipeline forgets that its guard has cut the answer',
    edits: [
      {
        file: 'src/generate/finish.ts',
        find: "return attempt.hasCut() ? 'balance' : 'finished';",
        put: "return attempt.hasCut() ? 'finished' : 'finished';",
      },
    ],
    tests: [GROWING],
    only: 'small wallet|cut|slice that nobody',
  },
  {
    id: 'T-29a',
    plants: 'a client that leaves pays nothing',
    edits: [
      {
        file: 'src/core/outcome.ts',
        find: "return worked ? 'counted' : chargeDelivered(output);",
        put: "return worked ? 'nothing' : chargeDelivered(output);",
      },
    ],
    tests: ['test/core/outcome.test.ts'],
  },
  {
    id: 'T-29b',
    plants: 'an answer that failed before its first word is charged',
    edits: [
      {
        file: 'src/core/outcome.ts',
        find: "return output === 'visible' ? 'counted' : 'nothing';",
        put: "return output === 'visible' ? 'counted' : 'counted';",
      },
    ],
    tests: ['test/core/outcome.test.ts'],
  },
  {
    id: 'T-29c',
    plants: 'our own count is charged beyond the hold',
    edits: [
      {
        file: 'src/generate/grant.ts',
        find: "const withinHold = rule !== 'reported';",
        put: "const withinHold = rule === 'nothing';",
      },
    ],
    tests: ['test/generate/fallback.test.ts'],
  },
  {
    id: 'T-30a',
    plants: 'a client that left pays no more than was held',
    edits: [
      {
        file: 'src/generate/grant.ts',
        find: "const withinHold = rule !== 'reported';",
        put: "const withinHold = rule !== 'reported' || outcome === 'client_cancelled';",
      },
    ],
    tests: ['test/generate/hidden.test.ts', 'test/generate/generate.test.ts'],
  },
  {
    id: 'T-30b',
    plants: 'any number of answers are read on without a slot',
    edits: [
      {
        file: 'src/generate/in-flight.ts',
        find: 'if (count >= most) return undefined;',
        put: 'if (count >= most * 1_000) return undefined;',
      },
    ],
    tests: ['test/generate/lifetime.test.ts'],
  },
  {
    id: 'T-30e',
    plants: 'thinking that nobody sees is free behind a stop sequence',
    edits: [
      {
        file: 'src/core/usage.ts',
        find: 'const due = own.outputTokens + hidden + overdue;',
        put: 'const due = own.outputTokens + hidden * 0 + overdue;',
      },
    ],
    tests: ['test/generate/hidden.test.ts'],
  },
  {
    id: 'T-30f',
    plants: 'an upstream is not read on for its report',
    edits: [
      {
        file: 'src/core/hidden.ts',
        find: "return upstream.profile.thinkingShown === 'part';",
        put: "return upstream.profile.thinkingShown === 'part' && false;",
      },
    ],
    tests: ['test/generate/hidden.test.ts', 'test/generate/lifetime.test.ts'],
  },
  {
    id: 'T-30c',
    plants: 'an upstream that bills to the end is stopped like any other',
    edits: [
      {
        file: 'src/generate/lifetime.ts',
        find: 'return !candidate.upstream.cancelStopsBilling || mayHideThinking(candidate);',
        put: 'return mayHideThinking(candidate);',
      },
    ],
    tests: ['test/generate/lifetime.test.ts'],
  },
  {
    id: 'T-30d',
    plants: 'an upstream that stops its bill when it is stopped is read to its end',
    edits: [
      {
        file: 'src/generate/lifetime.ts',
        find: 'return !candidate.upstream.cancelStopsBilling || mayHideThinking(candidate);',
        put: 'return true;',
      },
    ],
    tests: ['test/generate/lifetime.test.ts'],
  },
  {
    id: 'T-31',
    plants: 'a receipt tells the charge and not what was debited',
    edits: [
      {
        file: 'src/generate/grant.ts',
        find: 'tokensDebited: formatTokens(settlement.debited),',
        put: 'tokensDebited: formatTokens(settlement.debited + settlement.loss),',
      },
    ],
    tests: [GROWING],
    only: 'slice that nobody|small wallet',
  },
];
